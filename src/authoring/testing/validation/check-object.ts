import { type Cause, causesOf, findingOf, rejectionFinding } from '#check';
import {
  createDefaultLeafParser,
  defaultPoliciesOf,
  type LeafParser,
  type SchemaType,
  type StructType,
} from '#compile';
import {
  describeFound,
  type Finding,
  type LocatedDefinition,
  quotedList,
  usesClusters,
  valueAt,
  withoutConsequences,
} from '#definition';
import { httpKinds } from '#http-objects/kinds/index.ts';
import { httpKindCheckOf } from '#http-objects/spec/index.ts';
import { createClusterCrd, createOwnCrd } from '#runtime';
import { isCluster } from '#simulation';
import { didYouMean } from '#util/did-you-mean.ts';
import { isJsonObject, type JsonObject, pointerSteps, pointerTo } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { CheckServer } from './check-server.ts';
import { fieldPointer, withoutValue } from './field-pointer.ts';
import { type KnownKind, KnownKinds } from './known-kinds.ts';

/**
 * Which mistakes of an object are looked for. `whole`: all. `subset`: unknown fields and values that cannot be right, because fields may
 * be left out. A function: those that the server finds in a field and that it accepts.
 */
export type ObjectExtent = 'whole' | 'subset' | ((mistake: FieldMistake) => boolean);

/** A mistake in a field, as the server reports it. */
export interface FieldMistake {
  /** JSON pointer. */
  readonly path: string;
  /** `FieldValueNotFound`, or empty. */
  readonly reason: string;
}

/** At most this many mistakes of one object are reported. */
const maxMistakes = 50;

/**
 * Checks objects with a simulated API server that serves the kinds of definitions: it is asked whether it would create them. Paths of
 * findings begin at the object.
 */
export class ObjectCheck {
  readonly kinds = new KnownKinds();
  readonly #server = new CheckServer();
  readonly #areAllKindsKnown: boolean;
  #servesClusters = false;
  #servesHttpKinds = false;
  #parser: LeafParser | undefined;

  /** @param areAllKindsKnown false: other definitions could not be read, and an unknown kind may be one of theirs */
  constructor(definitions: readonly LocatedDefinition[], areAllKindsKnown = true) {
    this.#areAllKindsKnown = areAllKindsKnown;
    for (const { definition } of definitions) {
      if (definition.kind.source === 'crd') this.serve(definition.kind.crd);
      for (const policy of defaultPoliciesOf(definition)) this.#server.enforce(policy);
    }
    if (definitions.some(({ definition }) => usesClusters(definition))) this.#serveClusters();
    for (const kind of httpKinds) this.kinds.add(createOwnCrd(kind) as unknown as JsonObject);
  }

  /**
   * Serves the kinds of an object that is a CRD, and the kind `Cluster` where it is one; others change nothing. Objects of a CRD that the
   * server rejects are not checked.
   */
  serve(object: { readonly apiVersion?: unknown; readonly kind?: unknown }): void {
    if (object.kind === 'CustomResourceDefinition') {
      this.#server.install(object);
      this.kinds.add(object as JsonObject);
    } else if (isCluster(object)) this.#serveClusters();
  }

  check(object: JsonObject, extent: ObjectExtent): readonly Finding[] {
    const { apiVersion, kind } = object;
    if (typeof apiVersion !== 'string' || typeof kind !== 'string') return [];
    const known = this.kinds.find(apiVersion, kind);
    if (known === undefined) return this.#unknownKind(apiVersion, kind);
    const http = httpKindCheckOf(object);
    if (http === undefined) return this.#checkOnServer(object, known, extent);
    this.#serveHttpKinds();
    const found = this.#checkOnServer(object, known, extent);
    if (extent !== 'whole') return found;
    // What the server would find in the spec is found with it.
    this.#parser ??= createDefaultLeafParser();
    const problems = http.problems(object as unknown as KubeObject, this.#parser);
    return [
      ...found.filter(({ path }) => !path.startsWith('/spec')),
      ...problems.map((problem) => findingOf(problem, '')),
    ];
  }

  #checkOnServer(object: JsonObject, known: KnownKind, extent: ObjectExtent): readonly Finding[] {
    const findings: Finding[] = [];
    let rest = placed(object, known);
    // The server reports one kind of mistake at a time, and of some kinds only the first: each is removed, and the rest is checked.
    while (findings.length < maxMistakes) {
      const { isAccepted, body } = this.#server.judge(known.path, rest);
      if (isAccepted) break;
      const { found, isLast } = this.#readAnswer(body, { object: rest, known, extent });
      findings.push(...found);
      if (isLast || found.length === 0) break;
      rest = found.reduce((left, { path }) => withoutValue(left, path), rest);
    }
    return withoutConsequences(findings);
  }

  /** The object as the server would store it, with the defaults of its schema and of its definition. Undefined: the server rejects it. */
  admitted(object: KubeObject): KubeObject | undefined {
    const known = this.kinds.find(object.apiVersion, object.kind);
    if (known === undefined) return undefined;
    const { isAccepted, body } = this.#server.judge(
      known.path,
      placed(object as unknown as JsonObject, known),
    );
    return isAccepted
      ? { ...(body as unknown as KubeObject), metadata: object.metadata }
      : undefined;
  }

  close(): void {
    this.#server.close();
  }

  #serveClusters(): void {
    if (this.#servesClusters) return;
    this.#servesClusters = true;
    this.serve(createClusterCrd());
  }

  #serveHttpKinds(): void {
    if (this.#servesHttpKinds) return;
    this.#servesHttpKinds = true;
    for (const kind of httpKinds) this.#server.install(createOwnCrd(kind));
  }

  #unknownKind(apiVersion: string, kind: string): readonly Finding[] {
    if (!this.#areAllKindsKnown && !this.kinds.isBuiltinGroup(apiVersion)) return [];
    const hint = this.kinds.hintFor(apiVersion, kind);
    const isOtherVersion = hint?.includes('/') === true;
    return [
      {
        severity: this.kinds.isForeign(apiVersion) ? 'warning' : 'error',
        code: 'unknown-name',
        path: isOtherVersion ? '/apiVersion' : '/kind',
        message: `There is no kind "${kind}" in "${apiVersion}"`,
        hint: hint ?? 'Neither Kubernetes nor a definition has this kind',
      },
    ];
  }

  #readAnswer(status: JsonObject, about: About): Answer {
    const text = String(status.message ?? '');
    const unknown = [...text.matchAll(/(unknown|duplicate) field "((?:[^"\\]|\\.)*)"/g)];
    if (text.includes('strict decoding error') && unknown.length > 0)
      return {
        found: unknown
          .filter(([, problem]) => problem === 'unknown')
          .map(([, , field = '']) => unknownField(fieldPointer(about.object, field), about)),
        isLast: false,
      };
    const isPredicate = typeof about.extent === 'function';
    if (status.code === 400 && !isPredicate)
      return { found: this.#undecodable(text, about), isLast: false };
    if (status.code !== 422) return { found: [], isLast: true };
    return { found: causesOf(status).flatMap((cause) => explain(cause, about)), isLast: true };
  }

  /**
   * A value that cannot be decoded: the server names its field without the position in lists, or not at all. So values are removed one
   * after the other, inner ones first, until the answer is another one.
   */
  #undecodable(message: string, about: About): readonly Finding[] {
    const { object, known } = about;
    let rest = object;
    for (const path of innerFirst(object)) {
      rest = withoutValue(rest, path);
      if (this.#server.judge(known.path, rest).body.message !== message)
        return [wrongValue(path, message, about)];
    }
    return [{ code: 'invalid-value', path: '', ...rejectionFinding(message) }];
  }
}

interface About {
  readonly object: JsonObject;
  readonly known: KnownKind;
  readonly extent: ObjectExtent;
}

interface Answer {
  readonly found: readonly Finding[];
  /** The server has checked everything. */
  readonly isLast: boolean;
}

/** The object as a new one in the namespace of the collection: neither its version nor its namespace matters. */
function placed(object: JsonObject, { namespaced }: KnownKind): JsonObject {
  if (!isJsonObject(object.metadata)) return object;
  const { resourceVersion: _, namespace, ...metadata } = object.metadata;
  const isWrong = namespace !== undefined && typeof namespace !== 'string';
  return { ...object, metadata: { ...metadata, ...(isWrong && namespaced && { namespace }) } };
}

/** The pointers of all values, those within a map or list before it. */
function* innerFirst(value: unknown, pointer = ''): Generator<string> {
  if (typeof value === 'object' && value !== null)
    for (const [key, field] of Object.entries(value))
      yield* innerFirst(field, pointerTo(pointer, key));
  // Without its head it is another object.
  if (!['', '/apiVersion', '/kind', '/metadata', '/metadata/name'].includes(pointer)) yield pointer;
}

function unknownField(path: string, { known }: About): Finding {
  const steps = pointerSteps(path);
  const field = steps.at(-1) ?? '';
  const names = structAt(known.type(), steps.slice(0, -1))?.fields.keys() ?? [];
  const others = [...names].filter((name) => steps.length > 1 || name !== 'status');
  const hint =
    didYouMean(field, others) ??
    (others.length > 0 && others.length <= 6 ? `Known fields: ${others.join(', ')}` : undefined);
  return { code: 'unknown-field', path, at: 'key', message: `Unknown field "${field}"`, hint };
}

function structAt(type: SchemaType | undefined, steps: readonly string[]): StructType | undefined {
  const found = steps.reduce<SchemaType | undefined>((parent, step) => {
    if (parent?.kind === 'struct') return parent.fields.get(step)?.type;
    return parent?.kind === 'list' || parent?.kind === 'map' ? parent.item : undefined;
  }, type);
  return found?.kind === 'struct' ? found : undefined;
}

/** Go's names of types, and those of schemas. */
const typeNames: readonly (readonly [RegExp, string])[] = [
  [/^(?:u?int\d*|integer)$/, 'an integer'],
  [/^(?:float\d*|number)$/, 'a number'],
  [/^bool(?:ean)?$/, '"true" or "false"'],
  [/^string$/, 'a string'],
  [/^(?:\[\]|array$)/, 'a list'],
  [/^(?:map\[|object$)/, 'a map'],
];

function wrongValue(path: string, message: string, { object }: About): Finding {
  const found = valueAt(object, path);
  const goType = /cannot unmarshal .* of type (\S+)$/.exec(message)?.[1];
  if (goType !== undefined) return wrongType(path, goType, found);
  const quantity = /quantities must match/.test(message);
  const reason = message.replace(/^.*cannot be handled as a \w+: /, '');
  return {
    code: 'invalid-value',
    path,
    ...(quantity
      ? { message: `Expected a quantity such as "500m" or "1Gi", found ${describeFound(found)}` }
      : rejectionFinding(reason)),
  };
}

function wrongType(path: string, type: string, found: unknown): Finding {
  const expected = typeNames.find(([pattern]) => pattern.test(type))?.[1] ?? 'a map';
  const isScalar = ['number', 'boolean'].includes(typeof found);
  const isQuoted = typeof found === 'string' && /^(?:-?\d+(?:\.\d+)?|true|false)$/.test(found);
  const hints = [
    ...(expected === 'a string' && isScalar ? [`Quote it: "${found}"`] : []),
    ...(/integer|number|true/.test(expected) && isQuoted
      ? [`Write it without quotes: ${found}`]
      : []),
    ...(expected === 'a list' && isScalar ? [`Write a list: "[${found}]"`] : []),
  ];
  return {
    code: 'wrong-type',
    path,
    message: `Expected ${expected}, found ${describeFound(found)}`,
    hint: hints[0],
  };
}

/** Reasons that a part of an object can have: other parts may be there in the cluster. */
const reliableReasons: ReadonlySet<string> = new Set([
  'FieldValueTypeInvalid',
  'FieldValueNotSupported',
]);

function explain(cause: Cause, { object, extent }: About): readonly Finding[] {
  const { reason, field, message } = cause;
  const path = fieldPointer(object, field);
  const found = valueAt(object, path);
  const isReliable = reliableReasons.has(reason) && found !== undefined;
  if (field === '<nil>' || (extent === 'subset' && !isReliable)) return [];
  if (typeof extent === 'function' && !extent({ path, reason })) return [];
  switch (reason) {
    case 'FieldValueRequired': {
      const name = pointerSteps(path).at(-1) ?? field;
      const detail = /^Required value: (\S.*)$/.exec(message)?.[1];
      const hint = detail && detail.charAt(0).toUpperCase() + detail.slice(1);
      // The server also reports a value so that it does not accept: "Always" as the "restartPolicy" of a Job.
      if (typeof found === 'string' && found !== '' && detail !== undefined)
        return [{ code: 'invalid-value', path, ...rejectionFinding(detail) }];
      return [
        { code: 'missing-field', path, at: 'parent-key', message: `Missing field "${name}"`, hint },
      ];
    }
    case 'FieldValueTypeInvalid': {
      const type = /must be of type (\w+)/.exec(message)?.[1];
      return [wrongType(path, type ?? 'object', found)];
    }
    case 'FieldValueNotSupported': {
      const listed = /supported values: (.*)$/.exec(message)?.[1] ?? '';
      const values = [...listed.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, value = '']) => value);
      const hint = typeof found === 'string' ? didYouMean(found, values) : undefined;
      const expected = `Expected ${quotedList(values)}, found ${describeFound(found)}`;
      return [{ code: 'invalid-value', path, message: expected, hint }];
    }
    case 'FieldValueNotFound': {
      const message = `There is no volume ${describeFound(found)} in this manifest`;
      const volumes =
        /^(.*)\/(?:init|ephemeral)?[cC]ontainers\/\d+\/volume(?:Mount|Device)s\//.exec(path);
      if (volumes === null) break;
      const names = namesIn(valueAt(object, `${volumes[1]}/volumes`));
      // It is there, and rejected for another reason.
      if (names.includes(String(found))) return [];
      const hint = didYouMean(String(found), names);
      return [{ code: 'unknown-name', path, message, hint }];
    }
  }
  return [{ code: 'invalid-value', path, ...rejectionFinding(message) }];
}

function namesIn(list: unknown): readonly string[] {
  const items = Array.isArray(list) ? list.filter(isJsonObject) : [];
  return items.map(({ name }) => name).filter((name) => typeof name === 'string');
}
