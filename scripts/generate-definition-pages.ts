// `npm run generate -- definition-pages`: the field tables of docs/definition/, from the JSON Schema of definitions. A page
// marks a table with `<!-- fields: PATH, PATH -->` and `<!-- end of fields -->`; `PATH/1` lists one level only.
// With --check it only compares, and fails when a page is not up to date or a field is on no page.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { definitionSchema } from '#definition';
import { isJsonObject, type JsonObject } from '#util/json.ts';

interface Row {
  readonly path: string;
  readonly schema: JsonObject;
  readonly isRequired: boolean;
}

const folder = fileURLToPath(new URL('../docs/definition/', import.meta.url));
const block = /(<!-- fields: (.+?) -->\n)[\s\S]*?(<!-- end of fields -->)/g;
const rows = rowsOf(definitionSchema, '');
const missing = new Set(rows.map(({ path }) => path).filter((path) => isBelow(path, 'spec')));

for (const name of readdirSync(folder)) {
  const before = readFileSync(folder + name, 'utf8');
  const after = before.replace(block, (_, begin, paths, end) =>
    [begin, ...tableOf(paths.split(', ')), end].join('\n'),
  );
  if (!process.argv.includes('--check')) writeFileSync(folder + name, after);
  else if (before !== after)
    fail(`docs/definition/${name} is not up to date: run npm run generate`);
}
if (missing.size > 0) fail(`No page in docs/definition/ lists ${[...missing].join(', ')}`);

function fail(message: string): void {
  process.stderr.write(`${message}\n`);
  process.exitCode = 1;
}

function tableOf(paths: readonly string[]): readonly string[] {
  const listed = paths.flatMap((each) => {
    const [path = '', depth] = each.split('/');
    return rows.filter((row) =>
      depth === undefined ? isBelow(row.path, path) : parentOf(row.path) === path,
    );
  });
  for (const { path } of listed) missing.delete(path);
  return [
    '| field | type | default | meaning |',
    '| --- | --- | --- | --- |',
    ...listed.map((row) => {
      const cells = [code(row.path.replace(/^spec\./, '')), typeOf(row.schema)];
      cells.push(defaultOf(row), meaningOf(row.schema));
      return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
    }),
    '',
  ];
}

/** All fields below a node, each before the fields of its value. */
function rowsOf(node: unknown, path: string): readonly Row[] {
  if (!isJsonObject(node)) return [];
  const { properties, items, required } = node;
  const names = Array.isArray(required) ? required : [];
  const fields = isJsonObject(properties) ? Object.entries(properties) : [];
  return [
    ...fields.flatMap(([name, schema]) => {
      if (!isJsonObject(schema) || /^Set by the API server/.test(describe(schema))) return [];
      const own = path === '' ? name : `${path}.${name}`;
      const row = { path: own, schema, isRequired: names.includes(name) };
      return /^Not supported yet/.test(describe(schema)) ? [row] : [row, ...rowsOf(schema, own)];
    }),
    ...rowsOf(items, `${path}[]`),
  ];
}

/** Is it the field `base` or a field below it? The fields of label selectors are listed only with their own path. */
function isBelow(path: string, base: string): boolean {
  const below = path.slice(base.length);
  return path.startsWith(base) && /^(?:$|[.[])/.test(below) && !/[sS]elector\./.test(below);
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf('.'), 0));
}

function typeOf(schema: JsonObject): string {
  const {
    type,
    enum: values,
    items,
    title,
    properties,
    additionalProperties,
    const: constant,
  } = schema;
  if (constant !== undefined) return code(String(constant));
  if (Array.isArray(values)) return values.map((value) => code(String(value))).join(', ');
  if (typeof title === 'string' && title.startsWith('a duration')) return 'duration';
  if (isJsonObject(properties) && 'matchLabels' in properties) {
    return Array.isArray(type) ? 'selector or string' : 'selector';
  }
  if (type === 'array' && isJsonObject(items)) return `list of ${typeOf(items)}`;
  if (type === 'object' && isJsonObject(additionalProperties)) {
    return `map of ${typeOf(additionalProperties)}`;
  }
  if (Array.isArray(type))
    return type.map((each) => (each === 'array' ? 'list' : each)).join(' or ');
  return typeof type === 'string' ? type : 'any';
}

function defaultOf({ schema, isRequired }: Row): string {
  if (isRequired) return '**required**';
  return schema.default === undefined ? '' : code(String(schema.default));
}

function describe({ description }: JsonObject): string {
  return String(description ?? '');
}

function meaningOf(schema: JsonObject): string {
  const { examples, title, minimum, maximum } = schema;
  const bounds = minimum === undefined ? '' : ` At least ${String(minimum)}.`;
  const meaning = `${describe(schema)}${bounds}${maximum === undefined ? '' : ` At most ${String(maximum)}.`}`;
  const [example] = Array.isArray(examples) ? examples : [];
  const isShown = example !== undefined && !String(title).startsWith('a duration');
  const shown = typeof example === 'string' ? example : JSON.stringify(example);
  return isShown ? `${meaning} Example: ${code(shown)}` : meaning;
}

function code(text: string): string {
  return `\`${text}\``;
}
