/** YAML files that an author of manifests can write to stall, exhaust or mislead a command that reads them. */

/** Levels of lists, each with nine aliases of the one before: 9^9 texts if it is expanded. */
function aliasBomb(): string {
  const names = [...'abcdefghi'];
  const levels = names.map((name, index) => {
    const item = index === 0 ? 'lol' : `*${names[index - 1]}`;
    return `${name}: &${name} [${Array(9).fill(item).join(', ')}]`;
  });
  return `{ ${levels.join(', ')} }`;
}

const megabyte = 2 ** 20;
const nested = (open: string, close: string, levels: number) =>
  `${open.repeat(levels)}1${close.repeat(levels)}`;

/** Values in flow style: each is put into a ConfigMap, a definition, a resource and definitions of other tools. */
export const hostileValues: Readonly<Record<string, string>> = {
  'an alias bomb': aliasBomb(),
  'an alias of itself': '&a { a: *a, b: [*a] }',
  'an unknown alias': '{ a: *none }',
  'lists, 100,000 levels deep': nested('[', ']', 100_000),
  'maps, 2,000 levels deep': nested('{ a: ', '}', 2_000),
  'maps, 240 levels deep': nested('{ a: ', '}', 240),
  'prototypes of objects':
    '{ __proto__: { polluted: yes }, "__proto__": { polluted: true }, a: { __proto__: [] } }',
  'names of Object':
    '{ constructor: { prototype: { polluted: yes } }, toString: 1, hasOwnProperty: x, valueOf: {} }',
  'merge keys':
    '{ <<: { __proto__: { polluted: yes } }, a: { <<: [{ b: 1 }, { __proto__: { polluted: yes } }] } }',
  'merge keys of no map': '{ <<: 3, a: { <<: [1, [2]] } }',
  'a merge key of itself': '{ a: &a { b: { <<: *a } } }',
  NUL: '{ "a\\0b": "c\\0d", e: "\\u0000" }',
  'a scalar of 1 MB': `{ a: ${'x'.repeat(megabyte - 4_096)} }`,
  'a key of 1 MB': `{ ${'x'.repeat(megabyte - 4_096)}: a }`,
  'a key of 2 MB': `{ ? "${'x'.repeat(2 * megabyte)}" : a }`,
  '100,000 keys': `{ ${Array.from({ length: 100_000 }, (_, index) => `k${index}: 1`).join(', ')} }`,
  'keys that are no texts': '{ ? [a, b] : c, ? { d: e } : f, ? null : g, ? 1 : h, ? true : i }',
  'equal keys': '{ a: 1, a: 2, "a": 3 }',
  tags: '{ a: !!js/function "() => 1", b: !!binary "%%%", c: !!set { x }, d: !!python/object:os.system [rm], e: !<tag:x> 1 }',
  numbers: `{ a: 1e999999, b: 0x${'f'.repeat(10_000)}, c: .inf, d: .nan, e: -0, f: ${'9'.repeat(10_000)} }`,
  'terminal commands': '{ "a\\e]0;owned\\a": "\\e[2J", "\\u202Eb": "\\u009B31m" }',
  expressions:
    '{ a: "${ __proto__ }", b: "${ $string(constructor) }", c: "${ ${ }", d: "{{constructor}}{{__proto__}}" }',
};

const names = (name: string) => `
apiVersion: apps/v1
kind: Deployment
metadata: { name: ${name}, namespace: ${name}, labels: { app: ${name} } }
spec:
  selector: { matchLabels: { app: ${name} } }
  template: { metadata: { labels: { app: ${name} } }, spec: { containers: [{ name: ${name}, image: ${name} }] } }
---
apiVersion: ${name}
kind: ${name}
metadata: { name: ${name} }
---
apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: ${name} }
spec:
  crd:
    group: ${name}
    names: { kind: ${name}, plural: ${name} }
    scope: Namespaced
    versions: [{ name: ${name}, schema: { openAPIV3Schema: { type: object } } }]
  children: [{ id: ${name}, template: { apiVersion: v1, kind: ConfigMap, metadata: { name: ${name} } } }]
---
apiVersion: kro.run/v1alpha1
kind: ResourceGraphDefinition
metadata: { name: ${name} }
spec:
  schema: { apiVersion: v1alpha1, kind: ${name}, group: ${name}, spec: { name: string } }
  resources: [{ id: ${name}, template: { apiVersion: v1, kind: ConfigMap, metadata: { name: ${name} } } }]
`;

/** Whole files. */
export const hostileFiles: Readonly<Record<string, string | Uint8Array>> = {
  'names of a parent folder': names('../../escaped'),
  'names of a path': names(`"/tmp/homeostat-escaped"`),
  'names of Windows paths, devices and flags': ['"..\\\\..\\\\escaped"', 'con', '--output']
    .map(names)
    .join('---\n'),
  'a NUL byte': 'apiVersion: v1\nkind: Config\0Map\nmetadata: { name: a }\n',
  'no UTF-8': new Uint8Array([0x61, 0x3a, 0x20, 0xff, 0xfe, 0xc0, 0x80, 0xed, 0xa0, 0x80]),
  'UTF-16': new Uint8Array(Buffer.from('\ufeffapiVersion: v1\nkind: ConfigMap\n', 'utf16le')),
  '5,000 empty documents': '---\n'.repeat(5_000),
  '200 equal objects': 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\n---\n'.repeat(200),
  directives: '%YAML 9.9\n%TAG ! tag:evil,2026:\n%FOO bar\n---\n!x { a: 1 }\n...\n%YAML\n---\n',
  'blocks, 3,000 levels deep': Array.from(
    { length: 3_000 },
    (_, level) => `${' '.repeat(level)}a:\n`,
  ).join(''),
  'lists in lists': `${'- '.repeat(20_000)}a\n`,
  'nested Lists': `${'{ apiVersion: v1, kind: List, items: [ '.repeat(120)}{}${'] }'.repeat(120)}\n`,
  'a List of itself': '&a { apiVersion: v1, kind: List, items: [*a, *a] }\n',
  'null, texts and lists instead of objects': '---\nnull\n---\ntext\n---\n[]\n---\n1\n---\n~\n',
  'an empty file': '',
  'colons only': ':'.repeat(100_000),
  'quotes that do not end': `a: "${'\\n'.repeat(50_000)}`,
};
