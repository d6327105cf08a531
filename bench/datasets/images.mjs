// Images with ten classes out of the packages fashion-mnist and mnist.

import * as fs from 'node:fs';
import * as path from 'node:path';
import { withPackage } from './packages.mjs';

export const PIXELS = 784;

/**
 * All images, class after class: { rows, vectors, labels, skipped }. Both
 * packages hold one JSON file per class; one has a list of images, the other a
 * flat list of numbers. Rows that do not have 784 pixels are left out.
 */
export function readImages(spec, classFolder, say) {
  return withPackage(spec, say, (folder) => {
    const images = [];
    const labels = [];
    let skipped = 0;
    for (let label = 0; label < 10; label++) {
      const { data } = JSON.parse(fs.readFileSync(path.join(folder, classFolder, `${label}.json`), 'utf8'));
      for (const image of Array.isArray(data[0]) ? data : slices(data)) {
        if (image.length !== PIXELS) { skipped++; continue; }
        images.push(Float32Array.from(image));
        labels.push(label);
      }
    }
    const vectors = new Float32Array(images.length * PIXELS);
    images.forEach((image, row) => vectors.set(image, row * PIXELS));
    return { rows: images.length, vectors, labels: Uint8Array.from(labels), skipped };
  });
}

function* slices(flat) {
  for (let at = 0; at < flat.length; at += PIXELS) yield flat.slice(at, at + PIXELS);
}
