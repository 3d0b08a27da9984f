import type { JsonObject } from '#util/json.ts';
import { objectField, stringField } from '../json-fields.ts';
import { dnsLabel } from '../metadata/name-rules.ts';
import {
  type FieldError,
  invalidField,
  requiredField,
  unsupportedValue,
} from '../status/field-error.ts';
import { errorsOf } from './field-checks.ts';
import { jobChecks } from './job-checks.ts';
import { labelSelectorErrors, selectorMatches } from './selector-rules.ts';
import { countErrors, labelMismatch, templateErrors } from './workload-rules.ts';

const counts = [
  'parallelism',
  'completions',
  'activeDeadlineSeconds',
  'backoffLimit',
  'ttlSecondsAfterFinished',
  'backoffLimitPerIndex',
  'maxFailedIndexes',
];
const modes = ['NonIndexed', 'Indexed'];
const replacements = ['Failed', 'TerminatingOrFailed'];

/** Validates the spec of a Job; the template of a CronJob is defaulted before it is validated. */
export function jobSpecErrors(spec: JsonObject): readonly FieldError[] {
  return [
    ...countErrors(spec, counts),
    ...modeErrors(spec),
    ...(spec.maxFailedIndexes !== undefined && spec.backoffLimitPerIndex === undefined
      ? [requiredField('spec.backoffLimitPerIndex', 'when maxFailedIndexes is specified')]
      : []),
    ...errorsOf(jobChecks, spec, 'spec'),
    ...replacementErrors(spec),
    ...templateErrors(objectField(spec, 'template') ?? {}, ['OnFailure', 'Never']),
  ];
}

const generatedLabels = ['batch.kubernetes.io/controller-uid', 'controller-uid'];
const generatedNames = ['batch.kubernetes.io/job-name', 'job-name'];

/** Validates the selector of a Job, and the names of its pods. */
export function jobSelectorErrors(job: JsonObject): readonly FieldError[] {
  const [metadata, spec] = [objectField(job, 'metadata') ?? {}, objectField(job, 'spec') ?? {}];
  const labels = objectField(
    objectField(objectField(spec, 'template') ?? {}, 'metadata') ?? {},
    'labels',
  );
  const selector = objectField(spec, 'selector');
  const generated = Object.fromEntries([
    ...generatedLabels.map((name) => [name, metadata.uid ?? '']),
    ...generatedNames.map((name) => [name, metadata.name ?? '']),
  ]);
  const isGenerated = spec.manualSelector === true || selectorMatches(selector ?? {}, generated);
  const malformed = selector === undefined ? [] : labelSelectorErrors(selector, 'spec.selector');
  return [
    ...(selector === undefined ? [requiredField('spec.selector')] : malformed),
    ...(spec.manualSelector === true || selector === undefined
      ? []
      : missingLabels(labels ?? {}, generated)),
    ...(isGenerated
      ? []
      : [invalidField('spec.selector', selector, '`selector` not auto-generated')]),
    ...(selector === undefined ||
    (malformed.length === 0 && !selectorMatches(selector, labels ?? {}))
      ? [labelMismatch(labels)]
      : []),
    ...podNameErrors(spec, stringField(metadata, 'name') ?? ''),
  ];
}

/** The labels that a Job sets on its pods. */
function missingLabels(labels: JsonObject, generated: JsonObject): readonly FieldError[] {
  return Object.entries(generated).flatMap(([name, value]) => {
    const at = `spec.template.metadata.labels[${name}]`;
    if (labels[name] === undefined) return [requiredField(at, `must be '${value}'`)];
    return labels[name] === value ? [] : [invalidField(at, labels, `must be '${value}'`)];
  });
}

function podNameErrors(
  { completionMode, completions }: JsonObject,
  name: string,
): readonly FieldError[] {
  if (completionMode !== 'Indexed' || typeof completions !== 'number' || completions <= 0)
    return [];
  const last = `${name}-${completions - 1}`;
  if (dnsLabel(last).length === 0) return [];
  return [
    invalidField(
      'metadata.name',
      name,
      `will not able to create pod with invalid DNS label: ${last}`,
    ),
  ];
}

function modeErrors(spec: JsonObject): readonly FieldError[] {
  const mode = stringField(spec, 'completionMode') ?? 'NonIndexed';
  if (!modes.includes(mode)) return [unsupportedValue('spec.completionMode', mode, modes)];
  if (mode === 'Indexed') {
    if (spec.completions !== undefined) return [];
    return [requiredField('spec.completions', 'when completion mode is Indexed')];
  }
  return ['backoffLimitPerIndex', 'maxFailedIndexes']
    .filter((name) => spec[name] !== undefined)
    .map((name) => invalidField(`spec.${name}`, spec[name], 'requires indexed completion mode'));
}

function replacementErrors(spec: JsonObject): readonly FieldError[] {
  const policy = stringField(spec, 'podReplacementPolicy');
  const choices = spec.podFailurePolicy === undefined ? replacements : ['Failed'];
  if (policy === undefined || choices.includes(policy)) return [];
  return [unsupportedValue('spec.podReplacementPolicy', policy, choices)];
}

/** Completions change only with the parallelism of an Indexed Job. */
export function completionErrors(job: JsonObject, before: JsonObject): readonly FieldError[] {
  const [spec, old] = [objectField(job, 'spec') ?? {}, objectField(before, 'spec') ?? {}];
  const { completions, parallelism } = spec;
  if (completions === old.completions) return [];
  if (spec.completionMode !== 'Indexed')
    return [invalidField('spec.completions', completions, 'field is immutable')];
  if (completions === undefined || completions === parallelism) return [];
  const detail = 'can only be modified in tandem with spec.parallelism';
  return [invalidField('spec.completions', completions, detail)];
}
