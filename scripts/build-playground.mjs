// Writes the playground into `dist-playground`: static files for any web server. Its source maps are in `dist-playground-maps`.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { bundlePlayground, loadedSizes } from './bundle/playground.mjs';

/** All that a page may load, with gzip. */
const maxBytes = 1.6e6;
const folder = 'dist-playground';

const { files, maps } = await bundlePlayground();
const { plain, gzip, brotli } = loadedSizes(files);
if (gzip > maxBytes)
  throw new Error(`The playground has ${gzip} bytes with gzip, and may have ${maxBytes}`);
writeAll(folder, files);
writeAll(`${folder}-maps`, maps);
const megabytes = (bytes) => `${(bytes / 1e6).toFixed(2)} MB`;
console.log(
  `${folder}: ${files.length} files, ${megabytes(plain)}, ${megabytes(gzip)} with gzip, ${megabytes(brotli)} with brotli`,
);

function writeAll(target, content) {
  rmSync(target, { recursive: true, force: true });
  for (const { name, content: bytes } of content) {
    const path = join(target, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, bytes);
  }
}
