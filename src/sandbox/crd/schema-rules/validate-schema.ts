import type { JsonObject } from '#util/json.ts';
import type { CelEnvironment } from '../../cel/cel-environment.ts';
import { fieldOf, stringField } from '../../json-fields.ts';
import { type FieldError, forbiddenField, invalidField } from '../../status/field-error.ts';
import { defaultErrors } from './default-rules.ts';
import { ruleErrors, ruleFormErrors } from './expression-rules.ts';
import { type KeywordContext, keywordErrors } from './keyword-rules.ts';
import { SchemaNode, unreadableKeyword } from './schema-node.ts';
import { type PatternProblem, structureErrors } from './structure-rules.ts';

export interface SchemaRules {
  readonly environment: CelEnvironment;
  readonly patternProblem: PatternProblem;
}

/** All errors that the server reports for the schema of a CRD at this path, except the cost of rules. */
export function validateSchema(
  schema: JsonObject,
  path: string,
  { environment, patternProblem }: SchemaRules,
): readonly FieldError[] {
  const root = new SchemaNode(schema, path);
  const unreadable = unreadableKeyword(root);
  const structure = unreadable === undefined ? structureErrors(root, patternProblem) : [];
  const isStructural = unreadable === undefined && structure.length === 0;
  const defaults = isStructural ? defaultErrors(root, environment) : [];
  const checksRules = isStructural && defaults.length === 0;
  const walked = walk(root, {
    noDefaultsBecause: undefined,
    isInsideMeta: false,
    isRoot: true,
    uncorrelatable: undefined,
    environment: checksRules ? environment : undefined,
  });
  const own =
    fieldOf(root.schema, 'nullable') === true
      ? [forbiddenField(`${root.path}.nullable`, 'nullable cannot be true at the root')]
      : [];
  const errors = [...own, ...structure, ...defaults, ...walked.form, ...walked.rules];
  if (errors.length > 0 || unreadable === undefined) return errors;
  return [invalidField(root.path, '', `OpenAPIV3Schema '${unreadable}' is not supported`)];
}

interface WalkContext extends KeywordContext {
  readonly isRoot: boolean;
  readonly uncorrelatable: string | undefined;
  /** Undefined where rules are not checked: inside allOf and the like, and while the schema is invalid. */
  readonly environment: CelEnvironment | undefined;
}

interface ScopedNode {
  readonly form: readonly FieldError[];
  readonly rules: readonly FieldError[];
}

function walk(node: SchemaNode, context: WalkContext): ScopedNode {
  const below = childrenOf(node, context).map(([child, inner]) => walk(child, inner));
  const form = [
    ...below.flatMap((walked) => walked.form),
    ...keywordErrors(node, context),
    ...ruleFormErrors(node),
  ];
  const { environment, uncorrelatable, isRoot } = context;
  const own =
    form.length > 0 || environment === undefined
      ? []
      : ruleErrors({ ...node, environment, uncorrelatable, isRoot });
  return { form, rules: [...below.flatMap((walked) => walked.rules), ...own] };
}

type Child = readonly [node: SchemaNode, context: WalkContext];

function childrenOf(node: SchemaNode, context: WalkContext): readonly Child[] {
  const inner = { ...context, isRoot: false };
  const withoutRules = { ...inner, environment: undefined };
  return [
    ...fieldsOf(node, context, inner),
    ...itemsOf(node, inner),
    ...othersOf(node, inner),
    ...[...node.junctors, ...node.named('definitions'), ...node.named('dependencies')].map(
      (child): Child => [child, withoutRules],
    ),
  ];
}

function fieldsOf(node: SchemaNode, context: WalkContext, inner: WalkContext): readonly Child[] {
  const isObject =
    context.isRoot || fieldOf(node.schema, 'x-kubernetes-embedded-resource') === true;
  return node.fields.map((child): Child => {
    if (!isObject || !['metadata', 'kind', 'apiVersion'].includes(child.name))
      return [child, inner];
    const meta = { ...inner, isInsideMeta: true };
    if (!context.isRoot) return [child, meta];
    return [child, { ...meta, noDefaultsBecause: ` in top-level ${child.name}` }];
  });
}

/** Only items of list maps can be correlated. */
function itemsOf(node: SchemaNode, inner: WalkContext): readonly Child[] {
  const { items } = node;
  if (items === undefined) return [];
  if (stringField(node.schema, 'x-kubernetes-list-type') === 'map') return [[items, inner]];
  return [[items, { ...inner, uncorrelatable: inner.uncorrelatable ?? node.path }]];
}

function othersOf(node: SchemaNode, inner: WalkContext): readonly Child[] {
  const others = node.additionalProperties;
  if (others === undefined) return [];
  if (!inner.isInsideMeta) return [[others, inner]];
  const noDefaultsBecause = ' inside additionalProperties applying to object metadata';
  return [[others, { ...inner, noDefaultsBecause }]];
}
