import { deepEqual } from '#util/deep-equal.ts';
import { isJsonObject, type JsonObject } from '#util/json.ts';
import { fieldOf, listField, objectField, stringField, withField } from '../json-fields.ts';
import { stringsOf } from '../metadata/validate-metadata.ts';

/** The names that CRDs of a group have accepted. */
interface NamesInUse {
  /** Plurals, singulars and short names: they share one namespace. */
  readonly resources: ReadonlySet<string>;
  /** Kinds and list kinds. */
  readonly kinds: ReadonlySet<string>;
}

interface Condition {
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

export function namesInUse(crds: readonly JsonObject[]): NamesInUse {
  const given = crds.map(acceptedNames);
  const texts = (...fields: readonly string[]) =>
    given.flatMap((names) => fields.flatMap((field) => stringField(names, field) ?? []));
  const shortNames = given.flatMap((names) => stringsOf(names, 'shortNames'));
  return {
    resources: new Set([...texts('plural', 'singular'), ...shortNames]),
    kinds: new Set(texts('kind', 'listKind')),
  };
}

/** The accepted names of a CRD. */
export function acceptedNames(crd: JsonObject): JsonObject {
  return objectField(objectField(crd, 'status') ?? {}, 'acceptedNames') ?? {};
}

/** A CRD that is established stays established, even when its names conflict later. */
export function isEstablished(crd: JsonObject): boolean {
  return conditionOf(crd, 'Established')?.status === 'True';
}

/**
 * The CRD with the names that do not conflict with others of its group, and with the conditions for them; the same object when
 * nothing changes. Accepted names stay accepted, as in the naming controller of apiextensions-apiserver.
 */
export function withAcceptedNames(crd: JsonObject, inUse: NamesInUse, now: string): JsonObject {
  const { names, conflict } = namesFor(crd, inUse);
  const isNew = conditionOf(crd, 'NamesAccepted') === undefined;
  const accepted: Condition = conflict ?? {
    status: 'True',
    reason: 'NoConflicts',
    message: 'no conflicts found',
  };
  const established: Condition =
    conflict === undefined
      ? {
          status: 'True',
          reason: 'InitialNamesAccepted',
          message: 'the initial names have been accepted',
        }
      : { status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' };
  const named = withCondition(crd, 'NamesAccepted', accepted, now);
  const done =
    isEstablished(crd) || (conflict !== undefined && !isNew)
      ? named
      : withCondition(named, 'Established', established, now);
  const status = objectField(done, 'status') ?? {};
  if (deepEqual(acceptedNames(crd), names)) return done;
  return withField(done, 'status', { ...status, acceptedNames: names });
}

interface Naming {
  readonly names: JsonObject;
  /** The last conflict: the server reports only that one. */
  readonly conflict: Condition | undefined;
}

/** Accepts each free name, also when another name conflicts. */
function namesFor(crd: JsonObject, { resources, kinds }: NamesInUse): Naming {
  const requested = objectField(objectField(crd, 'spec') ?? {}, 'names') ?? {};
  const given = acceptedNames(crd);
  let names = given;
  let conflict: Condition | undefined;
  const accept = (field: string, conflicting: readonly string[]) => {
    const value = fieldOf(requested, field);
    if (conflicting.length > 0) conflict = conflictOf(field, conflicting);
    else names = withField(names, field, value);
  };
  const acceptOne = (field: string, used: ReadonlySet<string>) => {
    const name = stringField(requested, field) ?? '';
    const isFree = name === (stringField(given, field) ?? '') || !used.has(name);
    accept(field, isFree ? [] : [name]);
  };
  acceptOne('plural', resources);
  acceptOne('singular', resources);
  const acceptedShortNames = new Set(stringsOf(given, 'shortNames'));
  accept(
    'shortNames',
    stringsOf(requested, 'shortNames').filter(
      (name) => !acceptedShortNames.has(name) && resources.has(name),
    ),
  );
  acceptOne('kind', kinds);
  acceptOne('listKind', kinds);
  accept('categories', []);
  return { names, conflict };
}

function conflictOf(field: string, conflicting: readonly string[]): Condition {
  const messages = conflicting.map((name) => `"${name}" is already in use`);
  return {
    status: 'False',
    reason: `${field.charAt(0).toUpperCase()}${field.slice(1)}Conflict`,
    message: messages.length > 1 ? `[${messages.join(', ')}]` : messages.join(),
  };
}

function conditionOf(crd: JsonObject, type: string): JsonObject | undefined {
  return listField(objectField(crd, 'status') ?? {}, 'conditions')
    .filter(isJsonObject)
    .find((condition) => condition.type === type);
}

/** lastTransitionTime changes only with the status. */
function withCondition(crd: JsonObject, type: string, next: Condition, now: string): JsonObject {
  const before = conditionOf(crd, type);
  const { status, reason, message } = next;
  const lastTransitionTime = before?.status === status ? (before.lastTransitionTime ?? now) : now;
  const condition = { lastTransitionTime, message, reason, status, type };
  if (deepEqual(before, condition)) return crd;
  const live = objectField(crd, 'status') ?? {};
  const all = listField(live, 'conditions');
  const conditions =
    before === undefined
      ? [...all, condition]
      : all.map((each) => (each === before ? condition : each));
  return withField(crd, 'status', { ...live, conditions });
}
