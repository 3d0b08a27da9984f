// `npm run generate -- schemas`: the schemas of the built-in kinds and their descriptions, read from a real API server:
// schemas for checks without a cluster, both for the sandbox. `-- --check` writes nothing and exits 1 when a committed
// file is not what the server says.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startControlPlane } from '../test/support/control-plane/index.ts';
import { schemaBundle } from './generate-schema-bundle.ts';

const folder = new URL('../src/engine/compile/schema/', import.meta.url);
const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });

const plane = await startControlPlane({ controllerManager: false });
try {
  const { schemas, descriptions } = await schemaBundle({
    client: plane.client(),
    command: 'npm run generate -- schemas',
  });
  put('builtin-schemas.generated.json', schemas);
  put('builtin-descriptions.generated.json', descriptions);
} finally {
  await plane.stop();
}

function put(name: string, text: string): void {
  const path = fileURLToPath(new URL(name, folder));
  if (!values.check) writeFileSync(path, text);
  else if (readFileSync(path, 'utf8') !== text) {
    console.error(`${name} differs from the server: run npm run generate -- schemas`);
    process.exitCode = 1;
  }
}
