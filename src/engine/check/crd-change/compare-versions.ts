import { isStandardStatusSchema } from '#definition';
import { deepEqual } from '#util/deep-equal.ts';
import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import { type BreakingChange, type CrdChange, type NodePlace, quoted } from './breaking-change.ts';
import { compareNodes } from './compare-nodes.ts';

/** A version and its path in the desired CRD. */
interface Version {
  readonly name: string;
  readonly value: JsonObject;
  readonly path: string;
}

/** Compares versions and the storage version. */
export function* compareVersions(change: CrdChange): Iterable<BreakingChange> {
  const installed = versionsOf(change.installed);
  const desired = versionsOf(change.desired);
  for (const before of installed) {
    const after = desired.find(({ name }) => name === before.name);
    yield* after === undefined
      ? checkRemoved(before, change)
      : compareVersion({ before, after }, change);
  }
  if (!isConvertedByWebhook(change)) yield* checkStorage(installed, desired, change);
}

/** Then resources that are stored in another version are not read by its schema: the webhook converts them. */
function isConvertedByWebhook({ desired: { conversion } }: CrdChange): boolean {
  return isJsonObject(conversion) && conversion.strategy === 'Webhook';
}

function* checkRemoved({ name, value }: Version, { storedVersions }: CrdChange) {
  const path = '/spec/versions';
  if (storedVersions.includes(name)) {
    const message = `Version "${name}" is removed: resources may be stored in it`;
    yield { path, message, storedVersion: name };
  } else if (value.served === true) {
    const message = `Version "${name}" is removed while it is served: clients that use it would fail. First set "served: false"`;
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
    const message = `Version "${name}" is no longer served: resources may be stored in it`;
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
          message: `"${field}" of version "${name}" changes from ${quoted(before.value[field])} to ${quoted(after.value[field])}: the effect on stored resources is unknown`,
        };
    }
  }
}

/**
 * Checks a changed storage version: resources are rewritten without unknown fields and must be valid in it. Its defaults are not compared,
 * because clients of that version have always seen them.
 */
function* checkStorage(
  installed: readonly Version[],
  desired: readonly Version[],
  change: CrdChange,
): Iterable<BreakingChange> {
  const was = installed.find(({ value }) => value.storage === true);
  const is = desired.find(({ value }) => value.storage === true);
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
  const remaining = pathsOf(after);
  for (const path of pathsOf(before).filter((each) => !remaining.includes(each))) {
    const message = `${quoted(path)} of version "${after.name}" is no longer selectable: requests that select by it fail`;
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

interface Subresources {
  /** Of a version. */
  readonly before: JsonObject;
  readonly after: JsonObject;
  /** Of the version. */
  readonly path: string;
  readonly name: string;
}

/** Existing subresources must not change; new ones are safe. */
function* compareSubresources({
  before,
  after,
  path,
  name,
}: Subresources): Iterable<BreakingChange> {
  const was = isJsonObject(before.subresources) ? before.subresources : {};
  const is = isJsonObject(after.subresources) ? after.subresources : {};
  for (const [subresource, value] of Object.entries(was)) {
    if (value === null || deepEqual(value, is[subresource])) continue;
    const at = `${path}/subresources/${subresource}`;
    const what = `The subresource "${subresource}" of version "${name}"`;
    if (is[subresource] === undefined)
      yield { path: at, message: `${what} is removed: writes to it fail` };
    else {
      const message = `${what} changes from ${quoted(value)} to ${quoted(is[subresource])}: clients would see other fields`;
      yield { path: at, message };
    }
  }
}

interface Schemas {
  readonly before: JsonObject;
  readonly after: JsonObject;
}

/**
 * Removes the status fields that the runtime generates: it rewrites them in every pass. Fields of the author, and of CRDs of other owners
 * (`isOurs: false`), stay.
 */
function withoutOurStatus({ before, after }: Schemas, isOurs: boolean): Schemas {
  const theirs = isOurs ? {} : statusFieldsOf(before);
  const ours = Object.entries(statusFieldsOf(after))
    .filter(([name, schema]) => isStandardStatusSchema(name, schema))
    .map(([name]) => name)
    .filter((name) => !Object.hasOwn(theirs, name));
  return { before: withoutStatus(before, ours), after: withoutStatus(after, ours) };
}

function withoutStatus(root: JsonObject, names: readonly string[]): JsonObject {
  const { properties } = root;
  if (!isJsonObject(properties) || !isJsonObject(properties.status)) return root;
  const remaining = Object.entries(statusFieldsOf(root)).filter(([name]) => !names.includes(name));
  const status = { ...properties.status, properties: Object.fromEntries(remaining) };
  return { ...root, properties: { ...properties, status } };
}

function statusFieldsOf({ properties }: JsonObject): JsonObject {
  const { status } = isJsonObject(properties) ? properties : {};
  const fields = isJsonObject(status) ? status.properties : undefined;
  return isJsonObject(fields) ? fields : {};
}
