// `npm run generate:schemas`: the schemas of the built-in kinds, read from a real API server, for checks without
// a cluster. `-- --check` writes nothing and exits 1 when the committed file is not what the server says.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startControlPlane } from '../test/support/control-plane/index.ts';
import { schemaBundle } from './generate-schema-bundle.ts';

const file = '../src/compile/schema/builtin-schemas.generated.json';
const path = fileURLToPath(new URL(file, import.meta.url));
const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });

const plane = await startControlPlane({ controllerManager: false });
try {
  const bundle = await schemaBundle({
    client: plane.client(),
    command: 'npm run generate:schemas',
  });
  if (!values.check) writeFileSync(path, bundle);
  else if (readFileSync(path, 'utf8') !== bundle) {
    console.error('The bundled schemas differ from the server: run npm run generate:schemas');
    process.exitCode = 1;
  }
} finally {
  await plane.stop();
}
