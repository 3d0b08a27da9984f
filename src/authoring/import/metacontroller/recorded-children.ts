import { deepEqual } from '#util/deep-equal.ts';
import { gvkKey, gvkOf } from '#util/gvk.ts';
import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { literalExpression } from '../cel/jsonata.ts';
import { expressionText } from '../template-text.ts';
import { Explainer, type Observation, type Scope, scopeOf } from './explain.ts';
import type { HookAnswer } from './hook-answers.ts';

/** A child that recorded answers show. */
export interface RecordedChild {
  /** The first object of it. */
  readonly object: KubeObject;
  readonly answer: HookAnswer;
  readonly pointer: string;
  readonly template: JsonObject;
  readonly forEach?: string;
  readonly when?: string;
  /** Expressions of the template. */
  readonly used: ReadonlySet<string>;
  /** What has no explanation: paths of the template, or `when`. */
  readonly unexplained: readonly string[];
}

/** The fields of a parent as expressions. */
export function parentScope({ metadata, ...parent }: KubeObject): Scope {
  const { name, namespace, uid, labels, annotations } = metadata;
  return new Map([
    ...scopeOf('metadata.name', name),
    ...scopeOf('metadata.namespace', namespace),
    ...scopeOf('metadata.uid', uid),
    ...scopeOf('metadata.labels', labels as Json | undefined),
    ...scopeOf('metadata.annotations', annotations as Json | undefined),
    ...Object.entries(parent)
      .filter(([field]) => !['apiVersion', 'kind', 'status'].includes(field))
      .flatMap(([field, value]) => scopeOf(field, value as Json)),
  ]);
}

/** One object of an answer. */
interface Recorded {
  readonly answer: HookAnswer;
  readonly object: KubeObject;
  readonly pointer: string;
  /** Kind and name, in which the name of the parent is `@`. */
  readonly key: string;
  readonly scope: Scope;
}

/** Children of the answers: objects that correspond to each other are one child. */
export function recordedChildren(answers: readonly HookAnswer[]): readonly RecordedChild[] {
  const all = answers.flatMap((answer) => {
    const scope = parentScope(answer.parent);
    return answer.children.map((each): Recorded => {
      const kind = gvkKey(gvkOf(each.object.apiVersion, each.object.kind));
      const { name, namespace } = each.object.metadata;
      const place = namespace === answer.parent.metadata.namespace ? '' : (namespace ?? '');
      const path = `${place}/${name}`.replaceAll(bounded(answer.parent.metadata.name), '@');
      return { ...each, answer, scope, key: `${kind} ${path}` };
    });
  });
  const children: RecordedChild[] = [];
  const open = new Set(all);
  for (const first of all) {
    if (!open.has(first)) continue;
    const loop = loopWith(first, [...open], answers);
    const same = loop?.members ?? [...open].filter(({ key }) => key === first.key);
    for (const each of same) open.delete(each);
    children.push(loop?.child ?? singleChild(same, answers));
  }
  return children;
}

function bounded(text: string): RegExp {
  return new RegExp(`(?<![A-Za-z0-9])${text.replaceAll(/[.]/g, '\\.')}(?![A-Za-z0-9])`, 'g');
}

function singleChild(same: readonly Recorded[], answers: readonly HookAnswer[]): RecordedChild {
  const [first] = same as readonly [Recorded];
  const having = new Set(same.map(({ answer }) => answer));
  const when = having.size < answers.length ? conditionFor(answers, having) : undefined;
  const child = childOf(first, same);
  if (having.size === answers.length) return child;
  if (when === undefined) return { ...child, unexplained: [...child.unexplained, 'when'] };
  return { ...child, when: expressionText(when) };
}

function childOf(first: Recorded, observations: readonly Recorded[]): RecordedChild {
  const explainer = new Explainer();
  const values = observations.map(
    ({ object, scope, answer }): Observation => ({
      scope,
      value: withoutNamespace(object, answer),
    }),
  );
  const template = explainer.explain(values);
  return {
    object: first.object,
    answer: first.answer,
    pointer: first.pointer,
    template: isJsonObject(template) ? template : {},
    used: explainer.used,
    unexplained: explainer.unexplained,
  };
}

/** An object is in the namespace of its parent unless it says otherwise. */
function withoutNamespace(object: KubeObject, { parent }: HookAnswer): Json {
  const { namespace, ...metadata } = object.metadata;
  const isOwn = namespace === parent.metadata.namespace;
  const { apiVersion, kind, metadata: _, ...rest } = object;
  return {
    apiVersion,
    kind,
    metadata: isOwn || namespace === undefined ? metadata : { namespace, ...metadata },
    ...rest,
  } as unknown as Json;
}

/** A test that holds exactly for the answers that have the child. */
function conditionFor(
  answers: readonly HookAnswer[],
  having: ReadonlySet<HookAnswer>,
): string | undefined {
  const scopes = answers.map((answer) => ({
    scope: parentScope(answer.parent),
    has: having.has(answer),
  }));
  const expressions = new Set(scopes.flatMap(({ scope }) => [...scope.keys()]));
  const isExact = (test: (value: Json | undefined) => boolean, expression: string) =>
    scopes.every(({ scope, has }) => test(scope.get(expression)) === has);
  for (const each of expressions) {
    if (isExact((value) => value === true, each)) return `${each} ?? false`;
    if (isExact((value) => value !== undefined, each)) return `$exists(${each})`;
  }
  for (const each of expressions) {
    const wanted = scopes.find(({ has }) => has)?.scope.get(each);
    if (typeof wanted === 'string' && isExact((value) => value === wanted, each))
      return `${each} = ${literalExpression(wanted)}`;
    if (isExact((value) => typeof value === 'number' && value > 0, each)) return `${each} > 0`;
  }
  return undefined;
}

interface Loop {
  readonly members: readonly Recorded[];
  readonly child: RecordedChild;
}

/** The loop over a field of the parent that gives this object and others. Undefined: there is none. */
function loopWith(
  first: Recorded,
  open: readonly Recorded[],
  answers: readonly HookAnswer[],
): Loop | undefined {
  const scopes = answers.map(({ parent }) => parentScope(parent));
  for (const [expression, value] of first.scope) {
    if (!Array.isArray(value) && typeof value !== 'number') continue;
    if (!/^(?:spec|data|metadata\.annotations)\b/.test(expression) || /\[\d+\]/.test(expression))
      continue;
    const counts = scopes.map((scope) => countOf(scope.get(expression)));
    const total = counts.reduce((sum, each) => sum + each, 0);
    if (total > open.length) continue;
    const members = answers.flatMap(
      (answer, index) =>
        membersOf(first, answer, { open, expression, value: scopes[index]?.get(expression) }) ?? [],
    );
    const isLoop =
      members.length === total &&
      Math.max(...counts) > 1 &&
      members.some(({ object }) => object === first.object);
    if (!isLoop) continue;
    const child = childOf(first, members);
    if (child.unexplained.length > 0) continue;
    const list = Array.isArray(value) ? expression : `[0..${expression} - 1]`;
    return {
      members: open.filter(({ object }) => members.some((each) => each.object === object)),
      child: { ...child, forEach: expressionText(list) },
    };
  }
  return undefined;
}

function countOf(value: Json | undefined): number {
  if (Array.isArray(value)) return value.length;
  return Number.isSafeInteger(value) && Number(value) > 0 ? Number(value) : 0;
}

/** The items of a list, or the numbers below a number. */
function itemsOf(value: Json | undefined): readonly Json[] {
  if (Array.isArray(value)) return value;
  return Array.from({ length: countOf(value) }, (_, index) => index);
}

interface MemberContext {
  readonly open: readonly Recorded[];
  readonly expression: string;
  /** Of the expression, for the parent of the answer. */
  readonly value: Json | undefined;
}

/** The objects of an answer for the items of a list, or for the numbers from 0, with their item. */
function membersOf(
  first: Recorded,
  answer: HookAnswer,
  { open, value, expression }: MemberContext,
): readonly Recorded[] | undefined {
  const items = itemsOf(value);
  const own = open.filter(
    (each) =>
      each.answer === answer &&
      each.object.kind === first.object.kind &&
      each.object.apiVersion === first.object.apiVersion,
  );
  const found = items.flatMap((item, index): readonly Recorded[] => {
    const names = textsOf(item);
    const match = own.find(({ key }) =>
      names.some((name) => masked(key, name) === maskOf(first, expression)),
    );
    if (match === undefined) return [];
    const more = Array.isArray(value) ? scopeOf('$item', item) : [];
    return [{ ...match, scope: new Map([...match.scope, ...more, ['$index', index]]) }];
  });
  return found.length === items.length ? found : undefined;
}

function textsOf(item: Json): readonly string[] {
  if (isJsonObject(item))
    return Object.values(item)
      .filter((each) => typeof each !== 'object')
      .map(String);
  return [String(item)];
}

function masked(key: string, name: string): string {
  return key.replaceAll(bounded(name), '#');
}

/** The key of the first object without the text of its item. */
function maskOf({ key, scope }: Recorded, expression: string): string {
  for (const item of itemsOf(scope.get(expression)))
    for (const name of textsOf(item)) {
      const mask = masked(key, name);
      if (!deepEqual(mask, key)) return mask;
    }
  return '';
}
