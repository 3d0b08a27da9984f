import { type BenchKind, kindOf, openSchema } from './definitions.ts';

/** A hostile author: his definition, as others would write it, and the resource with which he attacks. */
export interface Tenant {
  readonly kind: BenchKind;
  /** JSON: it may be deeper than our own stack is. */
  readonly spec: string;
}

const hosts = Array.from({ length: 100 }, (_, index) => `h${index}`);
const entries = Array.from({ length: 8_000 }, (_, index) => ({
  host: `h${index % 100}`,
  n: index,
}));
const names = Array.from({ length: 1_000 }, (_, index) => `n${index}`);
const text = 'x'.repeat(250_000);
/** The API server takes 10,000. */
const levels = 9_900;

/**
 * One for each way to take what belongs to all: steps, a text with much to print, memory, many copies, depth. `edits` does nothing but to
 * be as large as most of them, and to be edited: what that costs the API server is none of ours.
 */
export function tenantKinds(): Readonly<Record<string, Tenant>> {
  return {
    edits: {
      kind: kindOf('edits', oneChild('${ $string($count(spec.entries)) }'), openSchema),
      spec: JSON.stringify({ hosts, entries }),
    },
    steps: {
      kind: kindOf('steps', forHosts('${ $json(spec.entries[host = $item].n) }'), openSchema),
      spec: JSON.stringify({ hosts, entries }),
    },
    template: {
      kind: kindOf(
        'template',
        forHosts('{{#each spec.entries}}{{#if (eq (json ../spec.entries) "")}}x{{/if}}{{/each}}'),
        openSchema,
      ),
      spec: JSON.stringify({ hosts, entries }),
    },
    bytes: {
      kind: kindOf('bytes', oneChild('${ $count(spec.names.($$.spec.text & $)) }'), openSchema),
      spec: JSON.stringify({ names, text }),
    },
    copies: {
      kind: kindOf('copies', copies, openSchema),
      spec: JSON.stringify({ names, text }),
    },
    depth: {
      kind: kindOf('depth', oneChild('${ $string($count(spec.**)) }'), openSchema),
      spec: `{"deep":${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}}`,
    },
  };
}

function forHosts(data: string): string {
  return `  children:
    - id: part
      forEach: "\${ spec.hosts }"
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }-\${ $item }" }
        data: { ports: '${data}' }
`;
}

function oneChild(data: string): string {
  return `  children:
    - id: part
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }" }
        data: { text: '${data}' }
`;
}

const copies = `  children:
    - id: part
      forEach: "\${ spec.names }"
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }-\${ $item }" }
        data: { a: "\${ spec.text }", b: "\${ spec.text }", c: "\${ spec.text }" }
`;
