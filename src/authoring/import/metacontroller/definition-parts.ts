import { bundledSchemas } from '#compile';
import { apiVersionOf, type Gvk, gvkKey, gvkOf } from '#util/gvk.ts';
import { isJsonObject, type Json, type JsonObject, pointerTo } from '#util/json.ts';
import { childId } from '../convert/child-id.ts';
import { idsOf } from '../convert/convert-manifests.ts';
import type { ImportReport } from '../import-report.ts';
import { childPermission, globNotes } from '../permission.ts';
import { expressionText } from '../template-text.ts';
import { Explainer, type Scope, scopeOf } from './explain.ts';
import type { HookAnswer } from './hook-answers.ts';
import type { ParentKind } from './parent-kind.ts';
import { parentScope, type RecordedChild } from './recorded-children.ts';

/** One entry of `childResources` or `attachments`. */
export interface ChildRule {
  readonly gvk: Gvk;
  readonly place: { readonly name: string; readonly pointer: string };
  /** `updateStrategy` and `ready` of its children. */
  readonly fields: JsonObject;
  readonly isRolling: boolean;
}

const methods: Readonly<Record<string, JsonObject | undefined>> = {
  OnDelete: { updateStrategy: { type: 'OnDelete' } },
  Recreate: { updateStrategy: { type: 'Recreate' } },
  RollingRecreate: { updateStrategy: { type: 'Recreate' } },
  InPlace: {},
  RollingInPlace: {},
};

/** How children of a rule are updated. Undefined: the method is not known. */
export function updateFields(strategy: Json | undefined): JsonObject | undefined {
  const { method = 'OnDelete', statusChecks } = isJsonObject(strategy) ? strategy : {};
  const fields = methods[String(method)];
  if (fields === undefined) return undefined;
  const conditions = isJsonObject(statusChecks) ? statusChecks.conditions : undefined;
  const tests = (Array.isArray(conditions) ? conditions : [])
    .filter(isJsonObject)
    .flatMap((check) =>
      (['status', 'reason'] as const).flatMap((field) =>
        typeof check[field] === 'string'
          ? [`$condition($child, "${String(check.type)}").${field} = "${check[field]}"`]
          : [],
      ),
    );
  return { ...fields, ...(tests.length > 0 && { ready: expressionText(tests.join(' and ')) }) };
}

/** The ids of recorded children. */
export function idsOfChildren(
  children: readonly RecordedChild[],
): ReadonlyMap<RecordedChild, string> {
  const parent = children[0]?.answer.parent.metadata.name ?? '';
  const ids = idsOf(
    children.map(({ object, forEach }) =>
      // The name of an element does not name the child.
      forEach === undefined ? object : { ...object, metadata: { name: parent } },
    ),
    parent,
  );
  return new Map(children.map((each, index) => [each, ids[index] ?? '']));
}

/** A child as recorded, with the report of what it shows and what it does not. */
export function convertRecorded(
  recorded: RecordedChild,
  id: string,
  {
    rules,
    isNamespaced,
    report,
  }: {
    readonly rules: readonly ChildRule[];
    readonly isNamespaced: boolean;
    readonly report: ImportReport;
  },
): JsonObject {
  const { object, answer, pointer, template, used, unexplained, forEach, when } = recorded;
  const gvk = gvkOf(object.apiVersion, object.kind);
  const own = report.in(answer.document.source);
  const place = { name: `${gvk.kind}/${object.metadata.name}`, pointer };
  const fields = [...used].filter((each) => !each.startsWith('metadata.')).sort();
  const shown =
    fields.length === 0
      ? 'all values but names are literal'
      : `read from ${fields.join(', ')}; other values are literal`;
  for (const path of unexplained)
    own.leftOut(
      { name: `${place.name}.${path}`, pointer },
      path === 'when'
        ? 'Only some answers have it, and no field of the parent shows when'
        : 'The answers differ, and no field of the parent shows why',
      `Write the expression into child "${id}"`,
    );
  const rule = rules.find((each) => gvkKey(each.gvk) === gvkKey(gvk));
  const metadata = isJsonObject(template.metadata) ? template.metadata : {};
  const permission = childPermission(gvk, metadata, { isNamespaced });
  own.converted(place, [`as recorded: ${shown}`, ...globNotes(permission)]);
  const isRolling = forEach !== undefined && rule?.isRolling === true;
  const { updateStrategy, ...rest } = rule?.fields ?? {};
  const strategy = {
    ...(isJsonObject(updateStrategy) ? updateStrategy : {}),
    ...(isRolling && { rollingUpdate: { maxUnavailable: 1 } }),
  };
  return {
    id,
    ...(when !== undefined && { when }),
    ...(forEach !== undefined && { forEach }),
    ...rest,
    ...(Object.keys(strategy).length > 0 && { updateStrategy: strategy }),
    ...(permission !== undefined && { crossNamespace: permission }),
    template,
  };
}

/** A child whose template the user writes. That of a cluster-scoped parent needs a namespace: of a Namespace, the parent itself. */
export function skeletonOf(
  { gvk, fields }: ChildRule,
  parent: Pick<ParentKind, 'gvk' | 'isNamespaced'>,
  taken: ReadonlySet<string>,
): JsonObject {
  const { kind } = gvk;
  const needsNamespace = !parent.isNamespaced && bundledSchemas().isNamespaced(gvk) === true;
  const namespace = parent.gvk.kind === 'Namespace' ? '${ metadata.name }' : 'default';
  const metadata = { name: '${ metadata.name }', ...(needsNamespace && { namespace }) };
  const permission = childPermission(gvk, metadata, parent);
  return {
    id: childId(kind, taken),
    ...fields,
    ...(permission !== undefined && { crossNamespace: permission }),
    template: { apiVersion: apiVersionOf(gvk), kind, metadata },
  };
}

/** `status`, from what the answers show. */
export function convertStatus(
  answers: readonly HookAnswer[],
  ids: ReadonlyMap<RecordedChild, string>,
  report: ImportReport,
): JsonObject {
  const [first] = answers;
  const status = first?.response.status;
  if (first === undefined || !isJsonObject(status)) return {};
  const own = report.in(first.document.source);
  const scopes = withZeros(answers.map((answer) => statusScope(answer, ids)));
  const observations = answers.map((answer, index) => ({ answer, scope: scopes[index] as Scope }));
  const fields = Object.keys(status).flatMap((field) => {
    const place = { name: `status.${field}`, pointer: pointerTo(`${first.pointer}/status`, field) };
    if (field === 'observedGeneration') {
      own.converted(place, ['Homeostat writes it']);
      return [];
    }
    const explainer = new Explainer();
    const template = explainer.explain(
      observations.map(({ answer, scope }) => ({
        scope,
        value: isJsonObject(answer.response.status) ? answer.response.status[field] : undefined,
      })),
      [field],
    );
    if (explainer.used.size === 0 || explainer.unexplained.length > 0 || template === undefined) {
      own.leftOut(
        place,
        field === 'conditions'
          ? 'Write its conditions as "conditions"'
          : 'No field of the parent or of its children has this value',
        'Write the expression, or record an answer for a parent whose children exist',
      );
      return [];
    }
    own.converted(place, [`as recorded: read from ${[...explainer.used].sort().join(', ')}`]);
    return [[field, withDefault(template, scopes)] as const];
  });
  return Object.fromEntries(fields);
}

/** Numbers of children are missing when they are zero, and when there is no child. */
function withZeros(scopes: readonly Scope[]): readonly Scope[] {
  const numbers = scopes.flatMap((scope) => [...scope].filter(isNumberOfChild).map(([key]) => key));
  const zeros = new Map(numbers.map((key) => [key, 0] as const));
  return scopes.map((scope) => new Map<string, Json>([...zeros, ...scope]));
}

function isNumberOfChild([key, value]: readonly [string, Json]): boolean {
  return key.startsWith('children.') && typeof value === 'number';
}

function withDefault(template: Json, scopes: readonly Scope[]): Json {
  const [, expression = ''] = /^\$\{ (\S+) \}$/.exec(String(template)) ?? [];
  const isNumber = scopes.some((scope) =>
    isNumberOfChild([expression, scope.get(expression) ?? null]),
  );
  return isNumber ? expressionText(`${expression} ?? 0`) : template;
}

/** The parent and the status of its children as expressions. */
function statusScope(answer: HookAnswer, ids: ReadonlyMap<RecordedChild, string>): Scope {
  const children = [...ids].flatMap(([child, id]): readonly (readonly [string, Json])[] => {
    const kind = gvkKey(gvkOf(child.object.apiVersion, child.object.kind));
    const own = answer.observed.filter(
      (each) => gvkKey(gvkOf(each.apiVersion, each.kind)) === kind,
    );
    if (child.forEach !== undefined) return [[`$count(children.${id})`, own.length]];
    const object = own.find(({ metadata }) => metadata.name === nameIn(answer, child));
    const status = object === undefined ? undefined : (object.status as Json | undefined);
    const name = object === undefined ? undefined : object.metadata.name;
    return [
      ...scopeOf(`children.${id}.status`, status),
      ...scopeOf(`children.${id}.metadata.name`, name),
    ];
  });
  return new Map([...parentScope(answer.parent), ...children]);
}

/** The name of a child for the parent of an answer. */
function nameIn({ parent }: HookAnswer, { object, answer }: RecordedChild): string {
  return object.metadata.name.replace(answer.parent.metadata.name, parent.metadata.name);
}
