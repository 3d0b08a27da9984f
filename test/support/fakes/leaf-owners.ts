import type { ManagedFieldsEntry, StatusCause } from '#kube/roles.ts';
import { deepEqual } from '#util/deep-equal.ts';
import { isJsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';

/** Who set each value last: by the steps to it, joined by a line feed. Lists are values. */
export type LeafOwners = ReadonlyMap<string, string>;

interface Owned {
  readonly object: KubeObject;
  readonly owners: LeafOwners;
  readonly intents: ReadonlyMap<string, KubeObject>;
}

/** Identity, and what the server or several managers write together, has no owner. */
const nobodys = /^(?:apiVersion|kind|metadata(?!\n(?:labels|annotations)\n)|status\nconditions)/;

/** All values of a new object. */
export function ownedLeaves(object: KubeObject, manager: string): LeafOwners {
  return new Map([...leavesOf(object)].map(([path]) => [path, manager]));
}

/** Owners after a write: the manager that changed a value owns it. */
export function changedLeaves(before: Owned, after: KubeObject, manager: string): LeafOwners {
  const owners = new Map<string, string>();
  const old = leavesOf(before.object);
  for (const [path, value] of leavesOf(after)) {
    const isSame = deepEqual(old.get(path), value);
    owners.set(path, isSame ? (before.owners.get(path) ?? manager) : manager);
  }
  return owners;
}

/** What a manager applied last, without what others have taken since. */
export function stillOwned(before: Owned, manager: string): KubeObject | undefined {
  const intent = before.intents.get(manager);
  return intent && (keepOwned(intent, { before, manager, path: '' }) as KubeObject);
}

function keepOwned(
  value: unknown,
  { before, manager, path }: { before: Owned; manager: string; path: string },
): unknown {
  if (!isJsonObject(value)) {
    const owner = before.owners.get(path);
    return owner === undefined || owner === manager ? value : undefined;
  }
  const kept = Object.entries(value).map(([key, field]) => {
    const below = path === '' ? key : `${path}\n${key}`;
    return [key, keepOwned(field, { before, manager, path: below })];
  });
  return Object.fromEntries(kept.filter(([, field]) => field !== undefined));
}

/** What an apply without force is rejected for: another's value that it would change. */
export function conflictsOf(apply: {
  readonly before: Owned;
  readonly intent: KubeObject;
  readonly manager: string;
}): readonly StatusCause[] {
  const { before, intent, manager } = apply;
  const live = leavesOf(before.object);
  return [...leavesOf(intent)].flatMap(([path, value]) => {
    const owner = before.owners.get(path);
    if (owner === undefined || owner === manager || deepEqual(live.get(path), value)) return [];
    const field = `.${path.replaceAll('\n', '.')}`;
    const message = `conflict with "${owner}" using v1`;
    return [{ reason: 'FieldManagerConflict', message, field, manager: owner }];
  });
}

/** The owners as managers with their fields; who has applied what was so already has it too. */
export function fieldsOwnedBy({ object, owners, intents }: Owned): readonly ManagedFieldsEntry[] {
  const live = leavesOf(object);
  const applied = [...intents].flatMap(([manager, intent]) =>
    [...leavesOf(intent)].flatMap(([path, value]): [string, string][] =>
      deepEqual(live.get(path), value) && owners.has(path) ? [[path, manager]] : [],
    ),
  );
  const owned = [...owners, ...applied];
  return [...new Set(owned.map(([, manager]) => manager))].map((manager) => {
    const fields: Record<string, unknown> = {};
    for (const [path, owner] of owned) if (owner === manager) addField(fields, path.split('\n'));
    return { manager, operation: intents.has(manager) ? 'Apply' : 'Update', fields };
  });
}

function addField(fields: Record<string, unknown>, [step, ...rest]: readonly string[]): void {
  if (step === undefined) return;
  const below = (fields[`f:${step}`] ?? {}) as Record<string, unknown>;
  fields[`f:${step}`] = below;
  addField(below, rest);
}

function leavesOf(value: unknown, path = ''): Map<string, unknown> {
  if (nobodys.test(path) && !isJsonObject(value)) return new Map();
  if (!isJsonObject(value)) return new Map([[path, value]]);
  return new Map(
    Object.entries(value).flatMap(([key, field]) => [
      ...leavesOf(field, path === '' ? key : `${path}\n${key}`),
    ]),
  );
}
