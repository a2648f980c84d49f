// SPDX-License-Identifier: Apache-2.0
// Keeps what was loaded, so that it can be opened again without a network. Files in assets/ never change under their name;
// everything else is asked for first and taken from here where there is no answer.
const kept = 'locus-1';

self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));

async function fetchAndKeep(request) {
  const response = await fetch(request);
  if (response.ok) (await caches.open(kept)).put(request, response.clone());
  return response;
}

self.addEventListener('fetch', (event) => {
  const { request } = event;
  const address = new URL(request.url);
  if (request.method !== 'GET' || address.origin !== self.location.origin) return;
  event.respondWith(address.pathname.includes('/assets/')
    ? caches.match(request).then((found) => found ?? fetchAndKeep(request))
    : fetchAndKeep(request).catch(async (error) => (await caches.match(request)) ?? Promise.reject(error)));
});
