import type { Outcome } from '../../controller/index.ts';
import { conditionsOf } from '../../util/conditions-of.ts';
import { isJsonObject } from '../../util/json.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { pausedAnnotation } from '../names.ts';
import { type Given, loggerOf, type Pass } from '../pass/pass.ts';
import { standardConditions } from '../report/conditions.ts';
import { writeStatus } from '../resource/write-status.ts';
import {
  conditionTypesOf,
  isForeign,
  standardConditionTypes,
  statusKeysOf,
} from '../status-fields.ts';

const summary = {
  reason: 'Paused',
  message: `Paused by the annotation "${pausedAnnotation}": nothing is changed until it goes`,
  isStalled: false,
  isReconciling: false,
} as const;

/** Says so in the status, where we write one of our own; all else there stays as it was. The annotation's going wakes the resource. */
export async function reportPaused(pass: Pass): Promise<Outcome> {
  const { context, key, state } = pass;
  context.timetable.forget(key);
  state.isReady = false;
  if (isForeign(context.plan)) return { kind: 'done' };
  const status = await writeStatus(pass, pausedStatus(pass));
  if (status.kind === 'failed') throw status.error;
  if (status.kind === 'written') loggerOf(pass).info({}, 'Paused');
  return { kind: 'done' };
}

function pausedStatus({ context, resource, phaseInput }: Given): Readonly<Record<string, unknown>> {
  const status = isJsonObject(resource.status) ? resource.status : {};
  const ours = statusKeysOf(context.plan).filter((field) => status[field] !== undefined);
  const standard = standardConditions({ resource, summary, now: phaseInput.now }).map(
    (condition) => ({
      ...condition,
      // What is edited meanwhile is not looked at.
      observedGeneration: pausedGeneration(resource) ?? condition.observedGeneration,
    }),
  );
  const types = conditionTypesOf(context.plan);
  const others = conditionsOf(resource).filter(
    ({ type }) => types.has(type) && !standardConditionTypes.has(type),
  );
  return {
    ...Object.fromEntries(ours.map((field) => [field, status[field]])),
    conditions: [...standard, ...others],
  };
}

/** The generation at which it was found paused; undefined: it has not been so far. */
function pausedGeneration(resource: KubeObject): number | undefined {
  const ready = conditionsOf(resource).find(({ type }) => type === 'Ready');
  const { reason, observedGeneration } = ready ?? {};
  return reason === 'Paused' && typeof observedGeneration === 'number'
    ? observedGeneration
    : undefined;
}
