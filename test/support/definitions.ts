import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { KubeObject } from '#util/kube-object.ts';

/** The text of a shipped definition or sample: `podset.yaml`, `samples/podset.yaml`. */
export function shippedText(file: string): string {
  return readFileSync(fileURLToPath(new URL(`../../operators/${file}`, import.meta.url)), 'utf8');
}

/** The texts of all shipped definitions, by file. */
export function shippedOperators(): Readonly<Record<string, string>> {
  const folder = fileURLToPath(new URL('../../operators/', import.meta.url));
  const files = readdirSync(folder).filter((file) => file.endsWith('.yaml'));
  return Object.fromEntries(files.map((file) => [file, shippedText(file)]));
}

export interface ThingDefinitionOptions {
  /** @default '<name>.example.com' */
  readonly group?: string;
  /** The schema in YAML: in flow style after a blank, or in block style, indented by twelve, after a line break. @default an open spec and status */
  readonly schema?: string;
}

const openSchema = `
            type: object
            properties:
              spec: { type: object, x-kubernetes-preserve-unknown-fields: true }
              status: { type: object, x-kubernetes-preserve-unknown-fields: true }`;

/** A definition of kind `Thing`, by default in a group of its own; `body` is YAML below `spec`, indented by two. */
export function thingDefinition(
  name: string,
  body: string,
  options: ThingDefinitionOptions = {},
): string {
  const { group = `${name}.example.com`, schema = openSchema } = options;
  return `apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: ${name} }
spec:
  crd:
    group: ${group}
    names: { kind: Thing, plural: things }
    scope: Namespaced
    versions:
      - name: v1
        schema:
          openAPIV3Schema:${schema}
${body}`;
}

/** A child of a definition, in YAML: a ConfigMap with a text in it. */
export function textMap(id: string, text = '"${ spec.text }"'): string {
  return `
    - id: ${id}
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }-${id}" }
        data: { text: ${text} }`;
}

/** A Thing of {@link thingDefinition}. */
export function thing(
  definition: string,
  namespace: string,
  spec: unknown,
  name = 'one',
): KubeObject {
  return {
    apiVersion: `${definition}.example.com/v1`,
    kind: 'Thing',
    metadata: { name, namespace },
    spec,
  };
}

/** Where the API serves it. */
export function thingPath(definition: string, namespace: string, name = 'one'): string {
  return `/apis/${definition}.example.com/v1/namespaces/${namespace}/things/${name}`;
}

export interface CrdOptions {
  readonly group: string;
  readonly kind: string;
  /** @default the kind in lower case with an `s` */
  readonly plural?: string;
  /** @default 'Namespaced' */
  readonly scope?: 'Namespaced' | 'Cluster';
  /** Schemas of its top-level fields. @default none */
  readonly properties?: object;
  /** @default none */
  readonly subresources?: object;
}

/** A CustomResourceDefinition of one version, `v1`, that no definition owns. */
export function customKind(options: CrdOptions): KubeObject {
  const { group, kind, scope = 'Namespaced', properties, subresources } = options;
  const singular = kind.toLowerCase();
  const { plural = `${singular}s` } = options;
  const openAPIV3Schema = { type: 'object', ...(properties === undefined ? {} : { properties }) };
  const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope,
      names: { plural, singular, kind, listKind: `${kind}List` },
      versions: [subresources === undefined ? version : { ...version, subresources }],
    },
  };
}

/** What the engine writes into every status. */
export interface StandardStatus {
  readonly observedGeneration?: number;
  readonly conditions?: readonly Condition[];
  readonly children?: readonly {
    readonly id: string;
    readonly name: string;
    readonly state: string;
    readonly message?: string;
  }[];
  readonly [field: string]: unknown;
}

export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly observedGeneration?: number;
  readonly lastTransitionTime?: string;
}

/** The status of a resource, empty when it has none yet. */
export function statusOf(object: KubeObject | undefined): StandardStatus {
  return (object?.status as StandardStatus | undefined) ?? {};
}

/** A condition by its type. */
export function conditionOf(object: KubeObject | undefined, type = 'Ready'): Condition | undefined {
  return statusOf(object).conditions?.find((condition) => condition.type === type);
}
