import { deepEqual } from '../../../util/deep-equal.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../util/json.ts';
import { type BreakingChange, type CrdChange, type NodePlace, quoted } from './breaking-change.ts';
import { compareNodes } from './compare-nodes.ts';
import { compareSubresources } from './compare-subresources.ts';
import { withoutOurStatus } from './our-status.ts';

/** A version and where it stands in the wanted CRD. */
interface Version {
  readonly name: string;
  readonly value: JsonObject;
  readonly path: string;
}

/** The versions, and in which one resources are stored. */
export function* compareVersions(change: CrdChange): Iterable<BreakingChange> {
  const installed = versionsOf(change.installed);
  const wanted = versionsOf(change.wanted);
  for (const before of installed) {
    const after = wanted.find(({ name }) => name === before.name);
    yield* after === undefined
      ? checkRemoved(before, change)
      : compareVersion({ before, after }, change);
  }
  yield* checkStorage(installed, wanted, change);
}

function* checkRemoved({ name, value }: Version, { storedVersions }: CrdChange) {
  const path = '/spec/versions';
  if (storedVersions.includes(name)) {
    const message = `Version "${name}" is removed: resources may be stored in it`;
    yield { path, message };
  } else if (value.served === true) {
    const message = `Version "${name}" is removed while it is served: whoever uses it would find nothing. First set "served: false"`;
    yield { path, message };
  }
}

interface VersionPair {
  readonly before: Version;
  readonly after: Version;
}

function* compareVersion({ before, after }: VersionPair, change: CrdChange) {
  const { storedVersions } = change;
  const { name, path } = after;
  const isStored = storedVersions.includes(name);
  if (before.value.served === true && after.value.served !== true && isStored) {
    const message = `Version "${name}" is served no more: resources may be stored in it`;
    yield { path: `${path}/served`, message };
  }
  const isUsed = before.value.served === true || isStored;
  if (!isUsed) return;
  for (const field of new Set([...Object.keys(before.value), ...Object.keys(after.value)])) {
    switch (field) {
      case 'name':
      case 'served':
      case 'storage':
      case 'deprecated':
      case 'deprecationWarning':
      case 'additionalPrinterColumns':
        break;
      case 'schema':
        yield* compareNodes({
          ...schemas(before, after, change),
          place: rootPlace(after, `version "${name}"`),
        });
        break;
      case 'subresources':
        yield* compareSubresources({ before: before.value, after: after.value, path, name });
        break;
      case 'selectableFields':
        yield* checkSelectable({ before, after });
        break;
      default:
        if (deepEqual(before.value[field], after.value[field])) break;
        yield {
          path: `${path}/${field}`,
          message: `"${field}" of version "${name}" changes from ${quoted(before.value[field])} to ${quoted(after.value[field])}: nobody knows what that does to stored resources`,
        };
    }
  }
}

/**
 * Another version is stored from now on: resources are written anew in it, without what it does not have, and must be accepted by it.
 * Whatever its defaults are, whoever read that version has always seen them.
 */
function* checkStorage(
  installed: readonly Version[],
  wanted: readonly Version[],
  change: CrdChange,
): Iterable<BreakingChange> {
  const was = installed.find(({ value }) => value.storage === true);
  const is = wanted.find(({ value }) => value.storage === true);
  if (was === undefined || is === undefined || was.name === is.name) return;
  const of = `version "${is.name}", which is to be stored instead of "${was.name}",`;
  yield* compareNodes({
    ...schemas(was, is, change),
    place: { ...rootPlace(is, of), hasOwnDefaults: true },
  });
}

function* checkSelectable({ before, after }: VersionPair): Iterable<BreakingChange> {
  const pathsOf = ({ value }: Version) =>
    listOf(value.selectableFields)
      .filter(isJsonObject)
      .map(({ jsonPath }) => jsonPath);
  const left = pathsOf(after);
  for (const path of pathsOf(before).filter((each) => !left.includes(each))) {
    const message = `${quoted(path)} of version "${after.name}" is selectable no more: whoever selects by it is refused`;
    yield { path: `${after.path}/selectableFields`, message };
  }
}

function rootPlace({ path }: Version, of: string): NodePlace {
  return {
    path: `${path}/schema/openAPIV3Schema`,
    field: '',
    of,
    role: 'structure',
    isResource: true,
    isCounted: false,
    hasOwnDefaults: false,
  };
}

function schemas(before: Version, after: Version, { isOurs }: CrdChange) {
  return withoutOurStatus({ before: schemaOf(before), after: schemaOf(after) }, isOurs);
}

function schemaOf({ value }: Version): JsonObject {
  const { openAPIV3Schema } = isJsonObject(value.schema) ? value.schema : {};
  return isJsonObject(openAPIV3Schema) ? openAPIV3Schema : {};
}

function versionsOf({ versions }: JsonObject): readonly Version[] {
  return listOf(versions)
    .map((value, index) => ({ value, path: `/spec/versions/${index}` }))
    .flatMap(({ value, path }) =>
      isJsonObject(value) ? [{ name: String(value.name), value, path }] : [],
    );
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}
