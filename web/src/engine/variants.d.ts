// Emscripten's glue; web/build.mjs resolves these names to the files of the wasm builds.
declare module 'nearfield-wasm/simd' {
  const factory: import('./module.js').ModuleFactory;
  export default factory;
}

declare module 'nearfield-wasm/relaxed' {
  const factory: import('./module.js').ModuleFactory;
  export default factory;
}

declare module 'nearfield-wasm/simd-threads' {
  const factory: import('./module.js').ModuleFactory;
  export default factory;
}

declare module 'nearfield-wasm/relaxed-threads' {
  const factory: import('./module.js').ModuleFactory;
  export default factory;
}
