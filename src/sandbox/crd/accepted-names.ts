import { deepEqual } from '../../util/deep-equal.ts';
import { isJsonObject, type JsonObject } from '../../util/json.ts';
import { fieldOf, listField, objectField, stringField, withField } from '../json-fields.ts';
import { textsOf } from '../metadata/index.ts';

/** What CRDs of a group have been given. */
export interface TakenNames {
  /** Plurals, singulars and short names: they share one space. */
  readonly resources: ReadonlySet<string>;
  /** Kinds, and kinds of lists. */
  readonly kinds: ReadonlySet<string>;
}

interface Condition {
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

export function takenNames(crds: readonly JsonObject[]): TakenNames {
  const given = crds.map(acceptedNames);
  const texts = (...fields: readonly string[]) =>
    given.flatMap((names) => fields.flatMap((field) => stringField(names, field) ?? []));
  const shortNames = given.flatMap((names) => textsOf(names, 'shortNames'));
  return {
    resources: new Set([...texts('plural', 'singular'), ...shortNames]),
    kinds: new Set(texts('kind', 'listKind')),
  };
}

/** The names that a CRD has been given. */
export function acceptedNames(crd: JsonObject): JsonObject {
  return objectField(objectField(crd, 'status') ?? {}, 'acceptedNames') ?? {};
}

/** Once it is, a CRD stays established, whatever becomes of its names. */
export function isEstablished(crd: JsonObject): boolean {
  return conditionOf(crd, 'Established')?.status === 'True';
}

/**
 * The CRD with the names that it can have beside others of its group, and with conditions that say so; the same object when nothing
 * changes. What was given stays given. As in the naming controller of apiextensions-apiserver.
 */
export function withAcceptedNames(crd: JsonObject, taken: TakenNames, now: string): JsonObject {
  const { names, conflict } = namesFor(crd, taken);
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
  /** The last of them, as the server tells no more. */
  readonly conflict: Condition | undefined;
}

/** Each name that is free is given, also when another one is not. */
function namesFor(crd: JsonObject, { resources, kinds }: TakenNames): Naming {
  const wanted = objectField(objectField(crd, 'spec') ?? {}, 'names') ?? {};
  const given = acceptedNames(crd);
  let names = given;
  let conflict: Condition | undefined;
  const give = (field: string, inTheWay: readonly string[]) => {
    const value = fieldOf(wanted, field);
    if (inTheWay.length > 0) conflict = conflictOf(field, inTheWay);
    else names = withField(names, field, value);
  };
  const giveOne = (field: string, used: ReadonlySet<string>) => {
    const name = stringField(wanted, field) ?? '';
    const isFree = name === (stringField(given, field) ?? '') || !used.has(name);
    give(field, isFree ? [] : [name]);
  };
  giveOne('plural', resources);
  giveOne('singular', resources);
  const ours = new Set(textsOf(given, 'shortNames'));
  give(
    'shortNames',
    textsOf(wanted, 'shortNames').filter((name) => !ours.has(name) && resources.has(name)),
  );
  giveOne('kind', kinds);
  giveOne('listKind', kinds);
  give('categories', []);
  return { names, conflict };
}

function conflictOf(field: string, inTheWay: readonly string[]): Condition {
  const told = inTheWay.map((name) => `"${name}" is already in use`);
  return {
    status: 'False',
    reason: `${field.charAt(0).toUpperCase()}${field.slice(1)}Conflict`,
    message: told.length > 1 ? `[${told.join(', ')}]` : told.join(),
  };
}

function conditionOf(crd: JsonObject, type: string): JsonObject | undefined {
  return listField(objectField(crd, 'status') ?? {}, 'conditions')
    .filter(isJsonObject)
    .find((condition) => condition.type === type);
}

/** The time is that of the last change of the status alone. */
function withCondition(crd: JsonObject, type: string, next: Condition, now: string): JsonObject {
  const before = conditionOf(crd, type);
  const { status, reason, message } = next;
  const lastTransitionTime = before?.status === status ? (before.lastTransitionTime ?? now) : now;
  const made = { lastTransitionTime, message, reason, status, type };
  if (deepEqual(before, made)) return crd;
  const live = objectField(crd, 'status') ?? {};
  const all = listField(live, 'conditions');
  const conditions =
    before === undefined ? [...all, made] : all.map((each) => (each === before ? made : each));
  return withField(crd, 'status', { ...live, conditions });
}
