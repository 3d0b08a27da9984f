import { FieldTypeBuilder, type MergeComponents } from '../apply/index.ts';
import { type DroppedZeros, GoTypeBuilder } from '../schema/index.ts';
import { type BuiltinRules, builtinKind } from './builtin-kind.ts';
import { eventRules, leaseRules, namespaceRules, serviceAccountRules } from './cluster-kinds.ts';
import { configMapRules, secretRules } from './data-kinds.ts';
import type { ServedKind } from './served-kind.ts';
import { deploymentRules, jobRules, podRules, replicaSetRules } from './workload-kinds.ts';

/** The documents of the built-in kinds, from a real server. */
export interface BuiltinSchemas {
  /** OpenAPI v3 components by name. */
  readonly components: MergeComponents;
  /** Names of the components of kinds: `v1/ConfigMap` -> `io.k8s.api.core.v1.ConfigMap`. */
  readonly roots: Readonly<Record<string, string>>;
  readonly droppedZeros: DroppedZeros;
}

/** What is modelled so far. */
const simpleKinds: readonly BuiltinRules[] = [
  configMapRules,
  secretRules,
  namespaceRules,
  serviceAccountRules,
  eventRules,
  podRules,
  deploymentRules,
  replicaSetRules,
  jobRules,
  leaseRules,
];

export interface BuiltinKindsOptions {
  readonly schemas: BuiltinSchemas;
  readonly now: () => string;
  /** Kinds that other rooms give rules for. */
  readonly more?: readonly BuiltinRules[];
}

/** All kinds that are served without a CRD. */
export function builtinKinds({
  schemas,
  now,
  more = [],
}: BuiltinKindsOptions): readonly ServedKind[] {
  const { components, roots, droppedZeros } = schemas;
  const fieldTypes = new FieldTypeBuilder(components);
  const goTypes = new GoTypeBuilder(components, droppedZeros);
  return [...simpleKinds, ...more].map((rules) => {
    const { group, version, kind } = rules.names;
    const key = `${group === '' ? version : `${group}/${version}`}/${kind}`;
    const root = roots[key];
    if (root === undefined)
      throw new Error(`Expected the schema of ${key} among the built-in ones`);
    const fieldType = fieldTypes.typeOf({ $ref: `#/components/schemas/${root}` });
    const openApi = { name: root, schema: components[root] ?? {} };
    return builtinKind({ rules, fieldType, goType: goTypes.component(root), openApi, now });
  });
}
