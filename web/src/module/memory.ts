// The memory that threads share.

const pageBytes = 64 << 10;
const initialBytes = 16 << 20; // as in wasm/CMakeLists.txt
const largestMegabytes = [4096, 2048, 1024, 512];

/** The largest that this machine grants: some set the whole of it aside at once. Undefined when it grants none. */
export function sharedMemory(): WebAssembly.Memory | undefined {
  for (const megabytes of largestMegabytes) {
    try {
      const maximum = (megabytes << 10) / (pageBytes >> 10);
      return new WebAssembly.Memory({ initial: initialBytes / pageBytes, maximum, shared: true });
    } catch {
      // A smaller one, perhaps.
    }
  }
  return undefined;
}

/** The whole of a memory that other threads may make grow. */
export function wholeOf(memory: WebAssembly.Memory): () => Uint8Array {
  let view = new Uint8Array(memory.buffer);
  return () => {
    if (view.buffer !== memory.buffer) view = new Uint8Array(memory.buffer);
    return view;
  };
}
