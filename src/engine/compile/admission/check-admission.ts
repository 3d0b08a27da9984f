import {
  type AdmissionRule,
  type Finding,
  type LocatedDefinition,
  type OperatorDefinition,
  valueAt,
} from '#definition';
import { didYouMean } from '#util/did-you-mean.ts';
import { escapedPattern } from '#util/escaped-pattern.ts';
import { isJsonObject, type JsonObject } from '#util/json.ts';
import type { Diagnostics } from '../diagnostics.ts';
import type { SchemaType } from '../schema/schema-type.ts';
import { balanceProblem } from './balance.ts';
import { looksOnlyAtContent } from './metadata-reads.ts';

/** What can be said of the rules of `admission` without a parser for CEL: `validate` checks their expressions. */
export function checkAdmissionRules(
  { definition, document }: LocatedDefinition,
  resource: SchemaType,
  diagnostics: Diagnostics,
): void {
  const { admission, kind } = definition;
  if (admission === undefined) return;
  const replicas = scaledFieldOf(kind);
  for (const [index, rule] of admission.rules.entries()) {
    const path = `/spec/admission/rules/${index}`;
    const found = [
      ...fieldFindings(rule, resource, `${path}/field`),
      ...(admission.action === 'Deny' ? schemaFindings(rule, kind.source, `${path}/rule`) : []),
      ...scaleFindings(rule, replicas, `${path}/rule`),
      ...balanceFindings(String(valueAt(document, `${path}/rule`)), `${path}/rule`),
    ];
    for (const finding of found) diagnostics.report(finding);
  }
}

function balanceFindings(rule: string, path: string): readonly Finding[] {
  const problem = balanceProblem(rule);
  return problem === undefined ? [] : [{ ...problem, path }];
}

/** The field that a message is about. */
function fieldFindings(
  { field }: AdmissionRule,
  resource: SchemaType,
  path: string,
): readonly Finding[] {
  if (field === undefined) return [];
  let type: SchemaType | undefined = resource;
  for (const step of field.replaceAll(/\[\d*\]/g, '').split('.')) {
    while (type?.kind === 'list') type = type.item;
    if (type?.kind !== 'struct') return [];
    const next: SchemaType | undefined = type.fields.get(step)?.type;
    if (next === undefined && !type.open)
      return [
        {
          code: 'unknown-path',
          path,
          message: `Unknown field "${step}" in "${field}"`,
          hint: didYouMean(step, [...type.fields.keys()]),
        },
      ];
    type = next;
  }
  return [];
}

/** A rule that a schema can have: the server checks those in every request, also to `status` and `scale`. */
function schemaFindings(
  { rule, operations }: AdmissionRule,
  source: OperatorDefinition['kind']['source'],
  path: string,
): readonly Finding[] {
  const usesOld = /\boldObject\b/.test(rule);
  const isOfSchema = usesOld
    ? operations.join() === 'Update'
    : operations.join() === 'Create,Update';
  if (source !== 'crd' || !isOfSchema || !looksOnlyAtContent(rule)) return [];
  return [
    {
      severity: 'warning',
      code: 'suspicious-expression',
      path,
      message:
        'This rule looks only at the object: it can be in the schema, where it holds for each request, also to "scale"',
      hint: `Write it as "x-kubernetes-validations" of the schema, with "self"${usesOld ? ' and "oldSelf"' : ''}`,
    },
  ];
}

/** Requests to `scale` have another object. */
function scaleFindings(
  { rule, operations }: AdmissionRule,
  replicas: string | undefined,
  path: string,
): readonly Finding[] {
  if (replicas === undefined || !operations.includes('Update')) return [];
  const fields = replicas.split('.').filter((step) => step !== '');
  const selection = fields.map(escapedPattern).join('\\s*\\.\\s*\\??\\s*');
  if (!new RegExp(`\\b${selection}\\b`).test(rule)) return [];
  return [
    {
      severity: 'warning',
      code: 'suspicious-expression',
      path,
      message: `Requests to "scale" change "${fields.join('.')}" and do not reach this rule: "kubectl scale", a HorizontalPodAutoscaler`,
      hint: 'Write what must hold for them as "x-kubernetes-validations" of the schema',
    },
  ];
}

/** `specReplicasPath` of the stored version. */
function scaledFieldOf(kind: OperatorDefinition['kind']): string | undefined {
  if (kind.source !== 'crd') return undefined;
  const { versions } = kind.crd.spec as { readonly versions?: readonly JsonObject[] };
  const stored = versions?.find(({ name }) => name === kind.gvk.version);
  const subresources = isJsonObject(stored?.subresources) ? stored.subresources : {};
  const path = isJsonObject(subresources.scale) ? subresources.scale.specReplicasPath : undefined;
  return typeof path === 'string' ? path : undefined;
}
