import type {
  AdmissionDefinition,
  ChildDefinition,
  LocatedDefinition,
  OperatorDefinition,
} from '#definition';
import { type Gvk, gvkOf } from '#util/gvk.ts';
import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import { analyse } from '../create-plan.ts';
import { createDiagnostics } from '../diagnostics.ts';
import { createInstallPlan, type InstallCompileResult } from '../install/compile-install.ts';
import { installDefinitionOf } from '../install/install-definition.ts';
import { escapedLeaf } from '../language/index.ts';
import type { OperatorPlan } from '../operator-plan.ts';
import { createDefaultLeafParser } from '../plain-expressions.ts';
import { resourceSchema, type SchemaSource } from '../schema-source.ts';
import { policyBindingOf, validatingPolicyOf } from './admission-policy.ts';
import { mutatingBindingOf, mutatingPolicyOf } from './mutating-policy.ts';
import { type AdmissionContext, admissionGroup } from './policy-match.ts';
import { notContent } from './rule-reads.ts';

/** The kind of the policy that sets defaults. */
export const mutatingPolicyGvk: Gvk = {
  group: admissionGroup,
  version: 'v1',
  kind: 'MutatingAdmissionPolicy',
};

/** The kind of the policy of rules. */
export const validatingPolicyGvk: Gvk = { ...mutatingPolicyGvk, kind: 'ValidatingAdmissionPolicy' };

/** The kinds of the objects that `admission` is compiled to. Pure. */
export function admissionKindsOf({ rules, defaults }: AdmissionDefinition): readonly Gvk[] {
  return [
    ...(rules.length > 0 ? ['ValidatingAdmissionPolicy', 'ValidatingAdmissionPolicyBinding'] : []),
    ...(defaults.length > 0 ? ['MutatingAdmissionPolicy', 'MutatingAdmissionPolicyBinding'] : []),
  ].map((kind) => ({ group: admissionGroup, version: 'v1', kind }));
}

/** What the policies of a definition depend on, besides its schemas. */
export interface AdmissionPlace extends Pick<AdmissionContext, 'plural' | 'guardedNamespaces'> {
  /** Whether defaults cannot be set yet. @default false */
  readonly omitsDefaults?: boolean;
}

/**
 * The definition of the policies that `admission` is compiled to: they are the children of one resource, which stands for the definition, as
 * the objects of `install` are. Without `admission` it has none.
 */
export function admissionDefinitionOf(
  located: LocatedDefinition,
  schemas: SchemaSource | undefined,
  place: AdmissionPlace,
): LocatedDefinition {
  const { definition } = located;
  const whole = installDefinitionOf(located, { vars: new Set(), reads: new Set() });
  const { admission } = definition;
  const children = admission === undefined ? [] : policiesOf(definition, admission, schemas, place);
  return {
    ...whole,
    definition: { ...whole.definition, children },
    document: {
      ...whole.document,
      spec: { children: children.map(({ id, template }) => ({ id, template: template as Json })) },
    },
    pointers: { reads: [], children: children.map(() => '/spec/admission'), onDelete: [] },
  };
}

/** Compiles the policies of a definition. Pure. Of a definition without `admission`, the plan desires nothing. */
export function compileAdmission(
  located: LocatedDefinition,
  schemas: SchemaSource | undefined,
  place: AdmissionPlace,
): InstallCompileResult {
  const diagnostics = createDiagnostics(located.source);
  const own = admissionDefinitionOf(located, schemas, place);
  const parser = createDefaultLeafParser();
  const analysis = analyse(own, { schemas, parser, diagnostics, coverage: undefined });
  const { diagnostics: found } = diagnostics.finish([]);
  if (found.some(({ severity }) => severity === 'error')) return { diagnostics: found };
  return { plan: createInstallPlan(analysis, 'admission'), diagnostics: found };
}

/** The policies that set the defaults of a kind of its own, for a simulated server. Pure. */
export function defaultPoliciesOf(definition: OperatorDefinition): readonly JsonObject[] {
  const { admission, kind } = definition;
  if (kind.source !== 'crd' || admission === undefined || admission.defaults.length === 0)
    return [];
  const context = {
    plural: kind.plural,
    isNamespaced: kind.scope === 'Namespaced',
    contentFields: contentFieldsOf(definition, undefined),
    guardedNamespaces: [],
  };
  return [mutatingPolicyOf(definition, admission, context), mutatingBindingOf(definition)];
}

/** The plan of a definition for its rights, before a cluster is known. */
export function offlineAdmissionPlan(
  located: LocatedDefinition,
  schemas: SchemaSource | undefined,
): OperatorPlan | undefined {
  const { admission, kind } = located.definition;
  if (admission === undefined) return undefined;
  const plural = kind.source === 'crd' ? kind.plural : `${kind.gvk.kind.toLowerCase()}s`;
  return compileAdmission(located, schemas, { plural, guardedNamespaces: [] }).plan;
}

function policiesOf(
  definition: OperatorDefinition,
  admission: AdmissionDefinition,
  schemas: SchemaSource | undefined,
  place: AdmissionPlace,
): readonly ChildDefinition[] {
  const { kind } = definition;
  const contentFields = contentFieldsOf(definition, schemas);
  const isNamespaced =
    kind.source === 'crd' ? kind.scope === 'Namespaced' : schemas?.isNamespaced(kind.gvk) === true;
  const context = { ...place, contentFields, isNamespaced };
  const hasDefaults = admission.defaults.length > 0 && place.omitsDefaults !== true;
  return [
    ...(hasDefaults
      ? [
          childOf('defaults', mutatingPolicyOf(definition, admission, context)),
          childOf('defaultsBinding', mutatingBindingOf(definition)),
        ]
      : []),
    ...(admission.rules.length > 0
      ? [
          childOf('policy', validatingPolicyOf(definition, admission, context)),
          childOf('binding', policyBindingOf(definition, admission)),
        ]
      : []),
  ];
}

/** The top-level fields that a user writes: `spec`, or `data` and others of kinds without it. */
function contentFieldsOf(
  { kind }: OperatorDefinition,
  schemas: SchemaSource | undefined,
): readonly string[] {
  const { root, components } = resourceSchema(kind, schemas);
  const properties = components[root]?.properties;
  const names = isJsonObject(properties as Json) ? Object.keys(properties as JsonObject) : [];
  const fields = names.filter((name) => !notContent.has(name));
  return fields.length === 0 ? ['spec'] : fields;
}

function childOf(id: string, manifest: JsonObject): ChildDefinition {
  return {
    id,
    gvk: gvkOf(String(manifest.apiVersion), String(manifest.kind)),
    template: literal(manifest),
    after: [],
    conflicts: 'Force',
    crossNamespace: false,
    ordered: false,
    deletionPolicy: 'Delete',
    adopt: 'Never',
    adoptedPolicy: 'Orphan',
    updateStrategy: { type: 'Apply' },
  };
}

/** Texts of rules are no expressions of Homeostat. */
function literal(value: Json): Json {
  if (typeof value === 'string') return escapedLeaf(value);
  if (Array.isArray(value)) return value.map(literal);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each = null]) => [key, literal(each)]),
  );
}
