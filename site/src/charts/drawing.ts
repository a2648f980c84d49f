// SPDX-License-Identifier: Apache-2.0
// What drawings share: they are as wide as their box, and canvases follow the theme.
import { onBeforeUnmount, onMounted, ref, type Ref } from 'vue';

/** The width of an element in pixels, as it changes; at least 240. */
export function useWidth(box: Ref<HTMLElement | null>): Ref<number> {
  const width = ref(560);
  let observer: ResizeObserver | undefined;
  onMounted(() => {
    observer = new ResizeObserver(([entry]) => { width.value = Math.max(240, Math.round(entry.contentRect.width)); });
    observer.observe(box.value!);
  });
  onBeforeUnmount(() => observer?.disconnect());
  return width;
}

/** Draws once the component is there, and again when light and dark change. */
export function useThemedDrawing(draw: () => void): void {
  let observer: MutationObserver | undefined;
  onMounted(() => {
    draw();
    observer = new MutationObserver(draw);
    observer.observe(document.documentElement, { attributeFilter: ['class'] });
  });
  onBeforeUnmount(() => observer?.disconnect());
}

export const isDark = () => document.documentElement.classList.contains('dark');
