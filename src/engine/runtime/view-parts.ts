import type { JsonObject } from '#util/json.ts';
import { versionsPart, versionsStatus } from './crd/conversion/versions-part.ts';
import type { DefinitionView } from './definition-view.ts';
import type { DefinitionFacts } from './definitions/definition-conditions.ts';
import { problemsPart } from './definitions/problems-part.ts';
import { admissionPart, installPart } from './install/install-part.ts';
import { clustersPart, clustersStatus } from './members/clusters-part.ts';
import { rolloutPart, rolloutStatus } from './rollout/rollout-part.ts';
import type { Summary, ViewPart } from './view-part.ts';

/** The parts of views, the most important one first. */
export const viewParts: readonly ViewPart[] = [
  rolloutPart,
  problemsPart,
  clustersPart,
  versionsPart,
  installPart,
  admissionPart,
];

/** The fields of all parts in the status of a definition. Pure. */
export function statusOfParts(facts: Pick<DefinitionFacts, 'view' | 'persisted'>) {
  const { view } = facts;
  return { ...rolloutStatus(facts), ...clustersStatus(view), ...versionsStatus(view) };
}

/** Why a definition that runs is not ready: what `accept` takes of the most important part. Undefined: it is ready. Pure. */
export function blockedBy(
  view: DefinitionView,
  accept: (found: Summary) => boolean = () => true,
): Summary | undefined {
  for (const part of viewParts) {
    const found = part.blocks?.(view);
    if (found !== undefined && accept(found)) return found;
  }
  return undefined;
}

/** Fields of all parts, of objects that each part may give. Pure. */
export function fieldsOfParts<Fields extends object = JsonObject>(
  fieldsOf: (part: ViewPart) => Fields | undefined,
): Fields {
  return Object.assign({}, ...viewParts.map((part) => fieldsOf(part)));
}
