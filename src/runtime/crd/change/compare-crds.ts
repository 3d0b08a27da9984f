import { deepEqual } from '../../../util/deep-equal.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../util/json.ts';
import { type BreakingChange, type CrdChange, quoted } from './breaking-change.ts';
import { compareVersions } from './compare-versions.ts';

/**
 * Everything about a change of a CRD that may break resources that are stored, or whoever reads and writes them; none: the change is
 * safe. A difference that no rule knows is among them. What was already there is not blamed. Pure.
 */
export function breakingChanges(change: CrdChange): readonly BreakingChange[] {
  const { installed, wanted } = change;
  const fields = new Set([...Object.keys(installed), ...Object.keys(wanted)]);
  return [...fields].flatMap((field) => {
    switch (field) {
      case 'versions':
        return [...compareVersions(change)];
      case 'names':
        return compareNames(installed, wanted);
      case 'conversion':
        return compareConversion(installed, wanted);
      default:
        return compareField(field, change);
    }
  });
}

const whyByField: ReadonlyMap<string, string> = new Map([
  ['group', 'that is another kind'],
  ['scope', 'resources that are stored have the other one'],
  ['preserveUnknownFields', 'unknown fields that are stored would be lost'],
]);

function compareField(field: string, { installed, wanted }: CrdChange): readonly BreakingChange[] {
  const was = asMeant(installed[field]);
  const is = asMeant(wanted[field]);
  if (deepEqual(was, is)) return [];
  const why = whyByField.get(field) ?? 'nobody knows what that does to stored resources';
  const message = `"${field}" changes from ${quoted(was)} to ${quoted(is)}: ${why}`;
  return [{ path: `/spec/${field}`, message }];
}

/** What the resources are called matters; what else they may be called does not. */
function compareNames(installed: JsonObject, wanted: JsonObject): readonly BreakingChange[] {
  const was = mapOf(installed.names);
  const is = mapOf(wanted.names);
  return ['plural', 'kind'].flatMap((name) => {
    if (was[name] === is[name]) return [];
    const message = `"names.${name}" changes from ${quoted(was[name])} to ${quoted(is[name])}: that is another kind`;
    return [{ path: `/spec/names/${name}`, message }];
  });
}

function compareConversion(installed: JsonObject, wanted: JsonObject): readonly BreakingChange[] {
  const was = mapOf(installed.conversion).strategy ?? 'None';
  const is = mapOf(wanted.conversion).strategy ?? 'None';
  if (was === is) return [];
  const message = `"conversion.strategy" changes from ${quoted(was)} to ${quoted(is)}: resources stored in other versions would read differently`;
  return [{ path: '/spec/conversion/strategy', message }];
}

/** The server leaves out what is false. */
function asMeant(value: Json | undefined): Json | undefined {
  return value === false || value === null ? undefined : value;
}

function mapOf(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}
