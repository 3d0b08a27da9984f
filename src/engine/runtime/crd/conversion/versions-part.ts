import { metricCatalogue } from '#telemetry/roles.ts';
import { deepEqual } from '#util/deep-equal.ts';
import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { conversionsAnnotation } from '#util/stored-names.ts';
import type { DefinitionView } from '../../definition-view.ts';
import type { DefinitionFacts } from '../../definitions/definition-conditions.ts';
import type { DefinitionStatus } from '../../definitions/definition-status.ts';
import { count, text, texts } from '../../objects/own-kind.ts';
import { recordedIn } from '../../recorded-state.ts';
import {
  type GaugeValue,
  notReady,
  type StatusEvent,
  type Summary,
  type ViewPart,
} from '../../view-part.ts';
import { storedVersionsOf } from '../check-change.ts';
import type { VersionView } from '../version-view.ts';
import { servedIn, versionsOf } from './crd-parts.ts';
import { provenBefore, provenIn } from './working-conversion.ts';

const changing = 'ChangingVersions';

/** What a definition shows of versions that differ: which are served and stored, and how far a change of them is. */
export const versionsPart: ViewPart = {
  statusSchema: {
    versions: {
      type: 'array',
      description: 'The versions of the kind, with `conversions`: as they are now.',
      'x-kubernetes-list-type': 'atomic',
      items: {
        type: 'object',
        properties: {
          name: text('Its name.'),
          served: flag('Clients can use it.'),
          storage: flag('Resources are written in it.'),
          stored: flag('Resources may be stored in it: then it cannot be removed.'),
          proven: flag(
            'The API server has converted resources from and to it without an error; while other rules are tried: by those before.',
          ),
        },
      },
    },
    migration: {
      type: 'object',
      description:
        'Resources that are written again in a new storage version; absent when all are, and without `conversions`.',
      properties: {
        version: text('The storage version.'),
        written: count('Resources that are stored in it.'),
        total: count('All resources.'),
        rejected: texts('Resources that are invalid in it and keep the old one, at most five.'),
      },
    },
  },
  ofCrd,
  blocks,
  notes,
  events,
  countsOf,
  measured,
};

function flag(description: string): JsonObject {
  return { type: 'boolean', description };
}

/** Its fields of a status. */
export function versionsStatus({
  versions,
  migration,
}: DefinitionView): Pick<DefinitionView, 'versions' | 'migration'> {
  if (versions === undefined) return {};
  return { versions, ...(migration && { migration }) };
}

function ofCrd(crd: KubeObject): Pick<DefinitionView, 'versions'> {
  if (crd.metadata.annotations?.[conversionsAnnotation] === undefined) return {};
  const served = servedIn(crd);
  const stored = storedVersionsOf(crd);
  const proven = [...provenIn(crd), ...provenBefore(crd)];
  const versions = versionsOf(crd).map((each) => {
    const name = String(each.name);
    return {
      name,
      served: served.includes(name),
      storage: each.storage === true,
      stored: stored.includes(name),
      proven: proven.includes(name),
    };
  });
  return { versions };
}

function blocks({ next }: DefinitionView): Summary | undefined {
  if (next?.changesVersions !== true) return undefined;
  return notReady(changing, `${next.message} (revision ${next.revision})`, 'moves');
}

/** Without numbers: a message stays the same while the state lasts. */
function notes({ versions = [], migration }: DefinitionView): readonly string[] {
  const left = leftOf(versions);
  if (left.length === 0) return [];
  const storage = storageOf(versions);
  // That of the previous storage version ends with the revision that has it.
  const isOfNow = migration !== undefined && storage.includes(migration.version);
  const rejected = (isOfNow && migration.rejected) || [];
  const why =
    rejected.length === 0
      ? ''
      : `: ${quoted(rejected)} ${rejected.length === 1 ? 'is' : 'are'} invalid in version ${quoted(storage)}`;
  return [`Resources may still be stored in version ${quoted(left)}${why}`];
}

/** Versions other than the storage version that may have resources. */
function leftOf(versions: readonly VersionView[]): readonly string[] {
  return versions.flatMap(({ name, stored, storage }) => (stored && !storage ? [name] : []));
}

function storageOf(versions: readonly VersionView[]): readonly string[] {
  return versions.flatMap(({ name, storage }) => (storage ? [name] : []));
}

function quoted(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(', ');
}

function events(before: JsonObject, after: DefinitionStatus): readonly StatusEvent[] {
  const last = versionsIn(before.versions);
  const { versions: now } = after;
  if (now === undefined) return last.length > 0 && runs(after) ? [withoutRules(after)] : [];
  if (last.length === 0 && !isChange(before, after)) return [];
  const gone = last.filter(({ name }) => !now.some((each) => each.name === name));
  return [
    ...now.flatMap((version) =>
      changesOf(
        last.find(({ name }) => name === version.name),
        version,
      ),
    ),
    ...storageChange(last, now),
    ...gone.map(({ name }) => event('VersionRemoved', `Version "${name}" was removed`)),
  ];
}

/**
 * Whether versions of which an earlier status shows none have changed. After a start, a status does not show them until the CRD was read.
 */
function isChange(before: JsonObject, { revision, conditions }: DefinitionStatus): boolean {
  if (conditions.some(({ type, reason }) => type === 'Ready' && reason === changing)) return true;
  const [accepted] = recordedIn(before).revisions;
  if (accepted === undefined) return true;
  const isAccepted = conditions.some(
    ({ type, status }) => type === 'Accepted' && status === 'True',
  );
  return isAccepted && accepted.revision !== revision;
}

function changesOf(before: VersionView | undefined, now: VersionView): readonly StatusEvent[] {
  const isUsable = now.served && now.proven;
  const wasUsable = before?.served === true && before.proven;
  if (isUsable && !wasUsable && !now.storage)
    return [event('VersionServed', `Version "${now.name}" is served, and its conversions succeed`)];
  if (!now.served && wasUsable)
    return [event('VersionNotServed', `Version "${now.name}" is not served any more`)];
  return [];
}

function storageChange(
  last: readonly VersionView[],
  now: readonly VersionView[],
): readonly StatusEvent[] {
  const [from, to] = [storageOf(last), storageOf(now)];
  const moved =
    from.length > 0 && !deepEqual(from, to)
      ? [event('StorageVersionChanged', `Resources are stored in version ${quoted(to)} now`)]
      : [];
  const isMigrated = leftOf(last).length > 0 && leftOf(now).length === 0;
  return isMigrated
    ? [...moved, event('ResourcesMigrated', `All resources are stored in version ${quoted(to)}`)]
    : moved;
}

/** The CRD has no rules any more. */
function withoutRules({ apiVersion = '' }: DefinitionStatus): StatusEvent {
  const note = `Versions of the kind are not converted any more, resources are stored in "${apiVersion}"`;
  return event('ConversionsRemoved', note);
}

function runs({ conditions }: DefinitionStatus): boolean {
  return conditions.some(({ type, status }) => type === 'Running' && status === 'True');
}

function event(reason: string, note: string): StatusEvent {
  return { type: 'Normal', reason, action: 'ChangeVersions', note };
}

function versionsIn(value: Json | undefined): readonly VersionView[] {
  return (Array.isArray(value) ? value : []).filter(isJsonObject).map((each) => ({
    name: String(each.name),
    served: each.served === true,
    storage: each.storage === true,
    stored: each.stored === true,
    proven: each.proven === true,
  }));
}

function countsOf({ migration: live }: JsonObject, { migration }: DefinitionStatus): JsonObject {
  const isSame =
    isJsonObject(live) && migration !== undefined && live.version === migration.version;
  return isSame
    ? { migration: { ...live, written: migration.written, total: migration.total } }
    : {};
}

function measured({ view: { versions, migration } }: DefinitionFacts): readonly GaugeValue[] {
  if (versions === undefined) return [];
  const { conversionStoredVersions, conversionMigration } = metricCatalogue;
  const stored = versions.filter((each) => each.stored).length;
  const pending = migration === undefined ? 0 : migration.total - migration.written;
  return [
    { gauge: conversionStoredVersions, value: stored, labels: [] },
    { gauge: conversionMigration, value: pending, labels: [] },
  ];
}
