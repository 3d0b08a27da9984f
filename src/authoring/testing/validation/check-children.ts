import type { CheckedDefinition } from '#check';
import type { ManifestExample } from '#compile';
import {
  type Diagnostic,
  type Finding,
  type LocatedDefinition,
  locate,
  valueAt,
} from '#definition';
import { isJsonObject, type JsonObject } from '#util/json.ts';
import type { FieldMistake, ObjectCheck } from './check-object.ts';

/**
 * What the server rejects in the children of built-in kinds whatever their expressions result in: mistakes in literal values, which it
 * finds in all examples of a manifest.
 * @param known diagnostics of the definition: their places are not reported again
 */
export function checkChildren(
  { located, plan }: CheckedDefinition,
  check: ObjectCheck,
  known: readonly Diagnostic[],
): readonly Diagnostic[] {
  const reported = known.filter(({ file }) => file === located.source.file).map(({ path }) => path);
  return (plan.exampleManifests?.() ?? []).flatMap(({ examples }) =>
    commonFindings(examples, check)
      .filter(({ path }) => !isReported(path, reported))
      .map((finding) => locateInManifest(finding, located)),
  );
}

/** Whether there is a diagnostic for a place, for a value in it, or, where the value is missing, for what lacks it. */
function isReported(path: string, reported: readonly string[]): boolean {
  const parent = path.slice(0, path.lastIndexOf('/'));
  return reported.some((each) => each === parent || isBelow(each, path));
}

/** A missing value has no place of its own: it is at the nearest value around it. */
function locateInManifest(finding: Finding, { source, document }: LocatedDefinition): Diagnostic {
  if (finding.at !== undefined || valueAt(document, finding.path) !== undefined)
    return locate(finding, source);
  return locate({ ...finding, at: 'parent-key' }, source);
}

function commonFindings(
  examples: readonly ManifestExample[],
  check: ObjectCheck,
): readonly Finding[] {
  const [first = [], ...others] = examples.map((example) => certainFindings(example, check));
  return first.filter(({ path }) =>
    others.every((found) => found.some((other) => other.path === path)),
  );
}

/** Mistakes in the literal parts of an example, with their places in the definition. */
function certainFindings(example: ManifestExample, check: ObjectCheck): readonly Finding[] {
  const { manifest } = example;
  if (!isJsonObject(manifest)) return [];
  const { apiVersion, kind } = manifest;
  if (check.kinds.find(String(apiVersion), String(kind)) === undefined) return [];
  const extent = (mistake: FieldMistake) => isCertain(mistake, example);
  const pods = deploymentOf(manifest);
  return [
    ...check.check(manifest, extent),
    ...(pods === undefined
      ? []
      : check.check(pods, (mistake) => isBelow(mistake.path, podSpec) && extent(mistake))),
  ]
    .filter(({ path }) => isLiteral(path, example))
    .map((finding) => ({ ...finding, path: example.pointerOf(finding.path) }));
}

/** Whether a mistake remains whatever the expressions result in. */
function isCertain({ path, reason }: FieldMistake, example: ManifestExample): boolean {
  if (!isLiteral(path, example)) return false;
  if (reason !== 'FieldValueNotFound') return true;
  // The volume that it names may be computed.
  const [spec = ''] = path.split(/\/(?:init|ephemeral)?[cC]ontainers\//);
  const lists = [`${spec}/volumes`, '/spec/volumeClaimTemplates'];
  return ![...example.open, ...example.computed].some((each) =>
    lists.some((list) => isBelow(list, each) || (isBelow(each, list) && decidesVolume.test(each))),
  );
}

/** A list of volumes or claims, an item of it, or its name. */
const decidesVolume = /\/(?:volumes|volumeClaimTemplates)(?:\/\d+(?:\/metadata)?(?:\/name)?)?$/;

/** Whether a value, or that there is none, does not depend on expressions. */
function isLiteral(path: string, { manifest, computed, open }: ManifestExample): boolean {
  if (computed.some((each) => isBelow(each, path) || isBelow(path, each))) return false;
  if (open.some((each) => isBelow(each, path))) return false;
  return valueAt(manifest, path) !== undefined || !open.some((each) => isBelow(path, each));
}

function isBelow(path: string, parent: string): boolean {
  return path === parent || path.startsWith(`${parent}/`);
}

const podSpec = '/spec/template/spec';

/**
 * A Deployment with the Pods of a StatefulSet: the server checks the Pod template of a StatefulSet only when its controller creates Pods.
 * Its claims are volumes.
 */
function deploymentOf({ apiVersion, kind, metadata, spec }: JsonObject): JsonObject | undefined {
  if (apiVersion !== 'apps/v1' || kind !== 'StatefulSet' || !isJsonObject(spec)) return undefined;
  const { template, selector, volumeClaimTemplates: claims } = spec;
  if (!isJsonObject(template) || !isJsonObject(template.spec) || selector === undefined)
    return undefined;
  const { volumes: written } = template.spec;
  const volumes = Array.isArray(written) ? written.filter(isJsonObject) : [];
  const claimed = (Array.isArray(claims) ? claims.filter(isJsonObject) : []).flatMap((claim) => {
    const name = isJsonObject(claim.metadata) ? claim.metadata.name : undefined;
    const isWritten = volumes.some((volume) => volume.name === name);
    return name === undefined || isWritten
      ? []
      : [{ name, persistentVolumeClaim: { claimName: 'claim' } }];
  });
  const pod = { ...template.spec, volumes: [...volumes, ...claimed] };
  return {
    apiVersion,
    kind: 'Deployment',
    ...(metadata !== undefined && { metadata }),
    spec: { selector, template: { ...template, spec: pod } },
  };
}
