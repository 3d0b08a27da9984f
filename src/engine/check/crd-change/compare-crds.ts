import { deepEqual } from '#util/deep-equal.ts';
import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import { type BreakingChange, type CrdChange, quoted } from './breaking-change.ts';
import { compareVersions } from './compare-versions.ts';

/**
 * Lists all changes of a CRD that may break stored resources or their clients; empty: safe. Unknown differences count as breaking. Problems
 * of the installed CRD are not reported. Pure.
 */
export function breakingChanges(change: CrdChange): readonly BreakingChange[] {
  const { installed, desired } = change;
  const fields = new Set([...Object.keys(installed), ...Object.keys(desired)]);
  return [...fields].flatMap((field) => {
    switch (field) {
      case 'versions':
        return [...compareVersions(change)];
      case 'names':
        return compareNames(installed, desired);
      case 'conversion':
        return compareConversion(change);
      default:
        return compareField(field, change);
    }
  });
}

const reasonByField: ReadonlyMap<string, string> = new Map([
  ['group', 'this is another kind'],
  ['scope', 'stored resources have the old scope'],
  ['preserveUnknownFields', 'stored unknown fields would be lost'],
]);

function compareField(field: string, { installed, desired }: CrdChange): readonly BreakingChange[] {
  const was = normalized(installed[field]);
  const is = normalized(desired[field]);
  if (deepEqual(was, is)) return [];
  const reason = reasonByField.get(field) ?? 'the effect on stored resources is unknown';
  const message = `"${field}" changes from ${quoted(was)} to ${quoted(is)}: ${reason}`;
  return [{ path: `/spec/${field}`, message }];
}

/** `plural` and `kind` matter, other names do not. */
function compareNames(installed: JsonObject, desired: JsonObject): readonly BreakingChange[] {
  const was = mapOf(installed.names);
  const is = mapOf(desired.names);
  return ['plural', 'kind'].flatMap((name) => {
    if (was[name] === is[name]) return [];
    const message = `"names.${name}" changes from ${quoted(was[name])} to ${quoted(is[name])}: this is another kind`;
    return [{ path: `/spec/names/${name}`, message }];
  });
}

/**
 * The strategy decides how resources read in other versions than the stored ones. It is safe to change it while there are none: with one
 * version before (a webhook comes with the second one), or after.
 */
function compareConversion({
  installed,
  desired,
  storedVersions,
}: CrdChange): readonly BreakingChange[] {
  const was = mapOf(installed.conversion).strategy ?? 'None';
  const is = mapOf(desired.conversion).strategy ?? 'None';
  if (was === is) return [];
  if (hasOneVersion(installed, storedVersions) || hasOneVersion(desired, storedVersions)) return [];
  const message = `"conversion.strategy" changes from ${quoted(was)} to ${quoted(is)}: resources stored in other versions would read differently`;
  return [{ path: '/spec/conversion/strategy', message }];
}

/** Whether a CRD has one version, in which all resources are stored. */
function hasOneVersion({ versions }: JsonObject, storedVersions: readonly string[]): boolean {
  const names = Array.isArray(versions) ? versions.map((each) => mapOf(each).name) : [];
  return names.length === 1 && storedVersions.every((stored) => stored === names[0]);
}

/** The API server omits false values. */
function normalized(value: Json | undefined): Json | undefined {
  return value === false || value === null ? undefined : value;
}

function mapOf(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}
