// `npm run generate -- sandbox-types`: the names of Go types in the messages of decoding errors, which OpenAPI does not contain, read from
// the Go modules that the control plane is built from. `-- --check` writes nothing and exits 1 when the file differs.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { MergeSchema } from '#sandbox/apply/field-type-builder.ts';
import { sandboxSchemas } from '../test/support/backends/index.ts';
import { goModuleFolders } from './go-module-folders.ts';

const path = fileURLToPath(
  new URL('../src/sandbox/schema/go-names.generated.json', import.meta.url),
);
/** A module, and what components of its types begin with. */
const modules = [
  ['k8s.io/api', 'io.k8s.api'],
  ['k8s.io/apimachinery', 'io.k8s.apimachinery'],
  ['k8s.io/apiextensions-apiserver', 'io.k8s.apiextensions-apiserver'],
] as const;
const scalars = new Set(['string', 'bool', 'int32', 'int64', 'float64', 'byte', 'int', 'uint32']);

interface GoField {
  readonly json: string;
  readonly type: string;
  /** Written as null when it is not set. */
  readonly isNullable: boolean;
}

interface GoStruct {
  readonly fields: readonly GoField[];
  readonly embedded: readonly string[];
}

const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });
const text = namesText();
if (!values.check) writeFileSync(path, text);
else if (readFileSync(path, 'utf8') !== text) {
  console.error(
    'The names of types differ from the Go modules: run npm run generate -- sandbox-types',
  );
  process.exitCode = 1;
}

function namesText(): string {
  const structs = readStructs();
  const { components } = sandboxSchemas();
  const types: Record<string, Record<string, string>> = {};
  const embedded: Record<string, Record<string, readonly string[]>> = {};
  const nullable: Record<string, readonly string[]> = {};
  for (const [name, { properties }] of Object.entries(components).sort(([a], [b]) =>
    a < b ? -1 : 1,
  )) {
    const struct = structs.get(name);
    if (struct === undefined || properties === undefined) continue;
    const package_ = name.slice(0, name.lastIndexOf('.') + 1);
    const inner = struct.embedded.map(
      (type) =>
        [
          type,
          structs.get(package_ + type) ??
            structs.get(`io.k8s.apimachinery.pkg.apis.meta.v1.${type}`),
        ] as const,
    );
    const fields = [...struct.fields, ...inner.flatMap(([, found]) => found?.fields ?? [])];
    const named = fields.filter(({ json, type }) => isNamed(type, properties[json]));
    if (named.length > 0)
      types[name] = Object.fromEntries(
        named.map(({ json, type }) => [json, qualified(type, package_)]),
      );
    const written = fields.filter(
      ({ json, isNullable }) => isNullable && properties[json] !== undefined,
    );
    if (written.length > 0) nullable[name] = written.map(({ json }) => json);
    const known = inner.flatMap(([type, found]) =>
      found === undefined ? [] : [[type, found.fields.map(({ json }) => json)] as const],
    );
    if (known.length > 0) embedded[name] = Object.fromEntries(known);
  }
  const lines = (table: object) =>
    Object.entries(table)
      .map(([name, row]) => `    ${JSON.stringify(name)}: ${JSON.stringify(row)}`)
      .join(',\n');
  return `{\n  "types": {\n${lines(types)}\n  },\n  "embedded": {\n${lines(embedded)}\n  },\n  "nullable": {\n${lines(nullable)}\n  }\n}\n`;
}

/** Of another type than its schema says: `DNSPolicy`, which is a string. */
function isNamed(type: string, schema: MergeSchema | undefined): boolean {
  const [own, item] = [schema, schema?.items ?? schema?.additionalProperties];
  if (schema === undefined || isReference(own) || isReference(item))
    return /ResourceList$/.test(type);
  const name = type.replace(/^(?:\[\]|map\[string\])+/, '');
  return !scalars.has(name) && !/^(?:resource\.Quantity|metav1\.|intstr\.)/.test(name);
}

function isReference(schema: unknown): boolean {
  return JSON.stringify(schema ?? {}).includes('$ref');
}

/** With the name of its package, as Go prints it. */
function qualified(type: string, package_: string): string {
  const [prefix = ''] = /^(?:\[\]|map\[string\])+/.exec(type) ?? [];
  const name = type.slice(prefix.length).replace(/^\w+v1\./, 'v1.');
  const own = package_.split('.').at(-2) ?? '';
  return `${prefix}${name.includes('.') ? name : `${own}.${name}`}`;
}

function readStructs(): ReadonlyMap<string, GoStruct> {
  const structs = new Map<string, GoStruct>();
  const folders = goModuleFolders(modules.map(([module]) => module));
  for (const [index, [, prefix]] of modules.entries()) {
    const folder = folders[index] ?? '';
    for (const entry of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      if (!/(?:^|_)types(?:_\w+)?\.go$|intstr\.go$/.test(basename(entry))) continue;
      const packagePath = dirname(relative(folder, join(folder, entry))).replaceAll('/', '.');
      readGo(readFileSync(join(folder, entry), 'utf8'), `${prefix}.${packagePath}.`, structs);
    }
  }
  return structs;
}

function readGo(source: string, package_: string, into: Map<string, GoStruct>): void {
  for (const [, name = '', body = ''] of source.matchAll(/^type (\w+) struct \{\n(.*?)^\}/gms)) {
    const fields: GoField[] = [];
    const embedded: string[] = [];
    for (const line of body.split('\n')) {
      const [, field = '', type = '', json = ''] =
        /^\t(\w+)\s+(\S+)\s+`.*?json:"([^",]*)[",]/.exec(line) ?? [];
      const isOmitted = /json:"[^"]*,omit(?:empty|zero)/.test(line);
      // Go omits no structs that are empty: a time without a pointer is written.
      const isTime = /^(?:\w+\.)?(?:Micro)?Time$/.test(type) && !line.includes('omitzero');
      const isNullable = isTime || (!isOmitted && /^(?:\*|\[\]|map\[)/.test(type));
      const [, inline] = /^\t(?:\w+\.)?(\w+)\s+`(?:.*?json:",inline")/.exec(line) ?? [];
      if (inline !== undefined) embedded.push(inline);
      else if (field !== '' && json !== '')
        fields.push({ json, type: type.replace(/^\*/, ''), isNullable });
    }
    into.set(package_ + name, { fields, embedded });
  }
}
