// SPDX-License-Identifier: Apache-2.0
// The site: pages/ and, put beside them by assemble.mjs, the guide (docs/) and the lessons (learn/).
import { readFileSync, readdirSync } from 'node:fs';
import katexModule from '@vscode/markdown-it-katex';
import { defineConfig, type DefaultTheme } from 'vitepress';
import en from '../src/messages/en.json' with { type: 'json' };
import es from '../src/messages/es.json' with { type: 'json' };

const katex = (katexModule as unknown as { default?: typeof katexModule }).default ?? katexModule;
const pages = new URL('../pages/', import.meta.url);

/** The Markdown files of a folder, under their own titles. */
const listed = (folder: string): DefaultTheme.SidebarItem[] =>
  readdirSync(new URL(`.${folder}`, pages)).filter((name) => name.endsWith('.md')).map((name) => {
    const title = /^# +(.*)$/m.exec(readFileSync(new URL(`.${folder}${name}`, pages), 'utf8'));
    return { text: (title?.[1] ?? name.slice(0, -3)).replaceAll('`', ''), link: folder + name.slice(0, -3) };
  });

const guide: DefaultTheme.SidebarItem[] = [{ text: 'How to', items: listed('/guide/guide/') }, { text: 'Reference', items: listed('/guide/') }];

function theme(root: string, words: typeof en, guideName: string): DefaultTheme.Config {
  return {
    nav: [
      { text: words['explorer.title'], link: `${root}explorer` },
      { text: words['stretch.title'], link: `${root}stretch` },
      { text: words['gpt.nav'], link: `${root}gpt` },
      { text: words['doctor.title'], link: `${root}doctor` },
      { text: words['results.title'], link: `${root}results` },
      { text: words['door.learn'], link: `${root}learn/00-why-positions` },
      { text: guideName, link: '/guide/design' },
    ],
    sidebar: { [`${root}learn/`]: [{ text: words['door.learn'], items: listed(`${root}learn/`) }], '/guide/': guide },
    outline: [2, 3],
  };
}

export default defineConfig({
  title: 'Locus',
  description: 'Positional encodings for transformers, computed live in the page by the C++ library',
  srcDir: 'pages',
  base: process.env.LOCUS_SITE_BASE ?? '/',
  outDir: process.env.LOCUS_SITE_OUT,
  ignoreDeadLinks: true, // the documents also link to source files, which are not part of the site
  head: [['link', { rel: 'icon', href: (process.env.LOCUS_SITE_BASE ?? '/') + 'icon.svg', type: 'image/svg+xml' }]],
  markdown: {
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    config(md) {
      md.use(katex as never); // its types are of another version of markdown-it
      // A wide formula scrolls, so that the keyboard must reach it.
      const block = md.renderer.rules.math_block!;
      md.renderer.rules.math_block = (tokens, index, options, env, self) => block(tokens, index, options, env, self)
        .replace('class="katex-display"', `class="katex-display" tabindex="0" role="group" aria-label="${env.relativePath?.startsWith('es/') ? es['formula'] : en['formula']}"`);
      // Indented code scrolls too; fenced code does by itself.
      md.renderer.rules.code_block = (tokens, index) => `<pre class="plain" tabindex="0" v-pre><code>${md.utils.escapeHtml(tokens[index].content)}</code></pre>\n`;
      // So do tables.
      md.renderer.rules.table_open = () => '<table tabindex="0">\n';
      // Documents are Markdown, not Vue: {{ and <name> are text.
      md.set({ html: true });
    },
  },
  locales: {
    root: { label: 'English', lang: 'en', themeConfig: theme('/', en, 'Guide') },
    es: {
      label: 'Español', lang: 'es',
      themeConfig: {
        ...theme('/es/', es, 'Guía (en inglés)'),
        docFooter: { prev: 'Anterior', next: 'Siguiente' }, darkModeSwitchLabel: 'Apariencia', lightModeSwitchTitle: 'Tema claro',
        darkModeSwitchTitle: 'Tema oscuro', sidebarMenuLabel: 'Menú', returnToTopLabel: 'Volver arriba', langMenuLabel: 'Idioma', skipToContentLabel: 'Saltar al contenido',
        outline: { level: [2, 3], label: 'En esta página' },
      },
    },
  },
  themeConfig: {
    search: {
      provider: 'local',
      options: {
        locales: {
          es: {
            translations: {
              button: { buttonText: 'Buscar', buttonAriaLabel: 'Buscar' },
              modal: {
                displayDetails: 'Mostrar detalles', resetButtonTitle: 'Borrar la búsqueda', backButtonTitle: 'Cerrar la búsqueda', noResultsText: 'Sin resultados para',
                footer: { selectText: 'elegir', navigateText: 'moverse', closeText: 'cerrar' },
              },
            },
          },
        },
      },
    },
  },
  vite: {
    build: { chunkSizeWarningLimit: 2000 },
    worker: { format: 'es' },
  },
});
