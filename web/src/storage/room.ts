// How much a site may still store.

/** In bytes, as the browser estimates it; Infinity when it does not say. */
export async function roomLeft(): Promise<number> {
  const { quota, usage = 0 } = (await globalThis.navigator?.storage?.estimate?.().catch(() => undefined)) ?? {};
  return quota === undefined ? Infinity : quota - usage;
}
