// `npm run generate -- sandbox-messages`: the numbers of the fields of built-in kinds in protobuf bodies, read from the
// Go module that the control plane is built from. `-- --check` writes nothing and exits 1 when the file differs.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { sandboxSchemas } from '../test/support/backends/index.ts';
import { goModuleFolders } from './go-module-folders.ts';

interface ProtoField {
  readonly name: string;
  readonly number: number;
  /** A scalar, or the full name of a message. */
  readonly type: string;
  readonly isRepeated: boolean;
  /** Values of a map; its keys are texts. */
  readonly isMap: boolean;
}

type Messages = ReadonlyMap<string, readonly ProtoField[]>;

const file = '../src/sandbox/protobuf/messages.generated.json';
const path = fileURLToPath(new URL(file, import.meta.url));
const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });
const packages = ['k8s.io/api', 'k8s.io/apimachinery'];
/** Bodies beside the kinds themselves. */
const extraRoots = [
  'k8s.io.apimachinery.pkg.apis.meta.v1.DeleteOptions',
  'k8s.io.api.autoscaling.v1.Scale',
  'k8s.io.api.policy.v1.Eviction',
];
/** Kinds that are told by their JSON. */
const special = new Set([
  'k8s.io.apimachinery.pkg.apis.meta.v1.Time',
  'k8s.io.apimachinery.pkg.apis.meta.v1.MicroTime',
  'k8s.io.apimachinery.pkg.apis.meta.v1.FieldsV1',
  'k8s.io.apimachinery.pkg.api.resource.Quantity',
  'k8s.io.apimachinery.pkg.util.intstr.IntOrString',
  'k8s.io.apimachinery.pkg.runtime.RawExtension',
]);

const { components, roots } = sandboxSchemas();
const text = messagesText();
if (!values.check) writeFileSync(path, text);
else if (readFileSync(path, 'utf8') !== text) {
  console.error('The messages differ from the Go module: run npm run generate -- sandbox-messages');
  process.exitCode = 1;
}

function messagesText(): string {
  const messages = readMessages();
  const kinds = Object.entries(roots).flatMap(([key, component]) => {
    const message = component.replace(/^io\.k8s\./, 'k8s.io.');
    return messages.has(message) ? [[key, message] as const] : [];
  });
  const reached = new Map<string, string>();
  const open = [...kinds.map(([, message]) => message), ...extraRoots];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    const fields = messages.get(name);
    if (reached.has(name) || special.has(name) || fields === undefined) continue;
    reached.set(name, JSON.stringify(fields.map((field) => row(messages, name, field))));
    open.push(...fields.map(({ type }) => type).filter((type) => type.includes('.')));
  }
  const lines = [...reached].sort(([a], [b]) => (a < b ? -1 : 1));
  return [
    '{',
    `  "provenance": ${JSON.stringify({ module: 'k8s.io/api v0.36.3', command: 'npm run generate -- sandbox-messages' })},`,
    '  "kinds": {',
    kinds
      .map(([key, message]) => `    ${JSON.stringify(key)}: ${JSON.stringify(message)}`)
      .join(',\n'),
    '  },',
    '  "messages": {',
    lines.map(([name, fields]) => `    ${JSON.stringify(name)}: ${fields}`).join(',\n'),
    '  }',
    '}',
    '',
  ].join('\n');
}

/** `[number, name, type, how]`: `*` a list, `{}` a map, `...` fields that stand in the outer object. */
function row(messages: Messages, message: string, field: ProtoField) {
  const { number, type, isRepeated, isMap } = field;
  const name = jsonName(message, field.name);
  const how = isMap ? '{}' : isRepeated ? '*' : isInlined(messages, message, field) ? '...' : '';
  return how === '' ? [number, name, type] : [number, name, type, how];
}

/** Some names begin in another case there. */
function jsonName(message: string, name: string): string {
  const known = Object.keys(propertiesOf(message) ?? {});
  if (known.includes(name)) return name;
  return known.find((other) => other.toLowerCase() === name.toLowerCase()) ?? name;
}

function propertiesOf(message: string) {
  return components[message.replace(/^k8s\.io\./, 'io.k8s.')]?.properties;
}

/** JSON does not know the field: those of its message are there in its place. */
function isInlined(messages: Messages, message: string, { name, type }: ProtoField): boolean {
  const properties = propertiesOf(message);
  if (properties === undefined || Object.hasOwn(properties, jsonName(message, name))) return false;
  return messages.has(type) && !special.has(type);
}

function readMessages(): Messages {
  const messages = new Map<string, readonly ProtoField[]>();
  for (const folder of goModuleFolders(packages))
    for (const entry of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
      if (entry.endsWith('generated.proto'))
        readProto(readFileSync(join(folder, entry), 'utf8'), messages);
  return messages;
}

function readProto(proto: string, into: Map<string, readonly ProtoField[]>): void {
  const code = proto.replaceAll(/\/\/.*$/gm, '');
  const pack = /^package (\S+);/m.exec(code)?.[1] ?? '';
  for (const [, name = '', body = ''] of code.matchAll(/^message (\w+) \{([^}]*)\}/gm)) {
    const fields = [
      ...body.matchAll(
        /^\s*(optional|repeated|map<string, ([.\w]+)>)\s*([.\w]+)?\s+(\w+) = (\d+)/gm,
      ),
    ];
    into.set(
      `${pack}.${name}`,
      fields.map(([, label = '', mapped, plain = '', field = '', number]) => ({
        name: field,
        number: Number(number),
        type: fullName(pack, mapped ?? plain),
        isRepeated: label === 'repeated',
        isMap: mapped !== undefined,
      })),
    );
  }
}

function fullName(pack: string, type: string): string {
  if (type.startsWith('.')) return type.slice(1);
  return /^[a-z]/.test(type) ? type : `${pack}.${type}`;
}
