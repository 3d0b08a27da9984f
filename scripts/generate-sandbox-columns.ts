// `npm run generate -- sandbox-columns`: the columns in which a real API server shows its built-in kinds, for the
// sandbox. `-- --check` writes nothing and exits 1 when the committed file is not what the server says.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { serverBackend } from '../test/support/backends/index.ts';
import { startControlPlane } from '../test/support/control-plane/index.ts';

interface Column {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  readonly priority: number;
}

interface ResourceList {
  readonly groupVersion: string;
  readonly resources: readonly {
    readonly name: string;
    readonly kind: string;
    readonly verbs: readonly string[];
  }[];
}

const file = '../src/sandbox/table/builtin-columns.generated.json';
const path = fileURLToPath(new URL(file, import.meta.url));
const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });
const tableType = 'application/json;as=Table;v=v1;g=meta.k8s.io';

const plane = await startControlPlane({ controllerManager: false });
const server = serverBackend(plane);
try {
  const text = await columnsText();
  if (!values.check) writeFileSync(path, text);
  else if (readFileSync(path, 'utf8') !== text) {
    console.error('The columns differ from the server: run npm run generate -- sandbox-columns');
    process.exitCode = 1;
  }
} finally {
  server.close();
  await plane.stop();
}

/** All columns once, one a line, and for each kind the numbers of its own. */
async function columnsText(): Promise<string> {
  const columns = new Map<string, number>();
  const kinds: string[] = [];
  const { gitVersion } = await get<{ readonly gitVersion: string }>('/version');
  for (const prefix of await groupPaths()) {
    const list = await get<ResourceList>(prefix);
    for (const { name, kind, verbs } of list.resources) {
      if (name.includes('/') || !verbs.includes('list')) continue;
      const table = await get<{ readonly columnDefinitions: readonly Column[] }>(
        `${prefix}/${name}?limit=1`,
        tableType,
      );
      const numbers = table.columnDefinitions.map((column) => numberOf(columns, column));
      kinds.push(`    ${JSON.stringify(`${list.groupVersion}/${kind}`)}: [${numbers.join(', ')}]`);
    }
  }
  const provenance = { server: gitVersion, command: 'npm run generate -- sandbox-columns' };
  return [
    '{',
    `  "provenance": ${JSON.stringify(provenance)},`,
    '  "columns": [',
    [...columns.keys()].map((column) => `    ${column}`).join(',\n'),
    '  ],',
    '  "kinds": {',
    kinds.sort().join(',\n'),
    '  }',
    '}',
    '',
  ].join('\n');
}

function numberOf(columns: Map<string, number>, column: Column): number {
  const text = JSON.stringify(column);
  const known = columns.get(text) ?? columns.size;
  columns.set(text, known);
  return known;
}

async function groupPaths(): Promise<readonly string[]> {
  const index = await get<{ readonly paths: Readonly<Record<string, unknown>> }>('/openapi/v3');
  return Object.keys(index.paths)
    .filter((group) => /^(api|apis\/[^/]+)\/v[^/]+$/.test(group))
    .map((group) => `/${group}`);
}

async function get<T>(at: string, accept = 'application/json'): Promise<T> {
  const answer = await server.request({ method: 'GET', path: at, headers: { accept } });
  if (answer.status !== 200) throw new Error(`Expected ${at}, found ${answer.text}`);
  return JSON.parse(answer.text);
}
