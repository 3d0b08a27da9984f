import { deepEqual } from '../../util/deep-equal.ts';
import { isJsonObject, type JsonObject } from '../../util/json.ts';
import { listField, objectField, stringField } from '../json-fields.ts';
import { type FieldError, invalidField, requiredField, unsupportedValue } from '../status/index.ts';
import { withTemplateDefaults } from './pod-defaults.ts';

/** An object with another spec. */
export function withSpec(object: JsonObject, change: (spec: JsonObject) => JsonObject): JsonObject {
  return { ...object, spec: change(objectField(object, 'spec') ?? {}) };
}

/** The template of a spec, completed. */
export function templateOf(spec: JsonObject): JsonObject {
  return { template: withTemplateDefaults(objectField(spec, 'template')) };
}

/** What a kind with a selector and a template of pods is refused for. */
export function workloadErrors(
  object: JsonObject,
  restartPolicies: readonly string[],
): readonly FieldError[] {
  const spec = objectField(object, 'spec') ?? {};
  const template = objectField(spec, 'template') ?? {};
  return [...selectorErrors(spec, template), ...templateErrors(template, restartPolicies)];
}

function selectorErrors(spec: JsonObject, template: JsonObject): readonly FieldError[] {
  const selector = objectField(spec, 'selector');
  const labels = objectField(objectField(template, 'metadata') ?? {}, 'labels') ?? {};
  const mismatch = invalidField(
    'spec.template.metadata.labels',
    labels,
    '`selector` does not match template `labels`',
  );
  if (selector === undefined) return [requiredField('spec.selector'), mismatch];
  const matchLabels = objectField(selector, 'matchLabels') ?? {};
  if (Object.keys(selector).length === 0) {
    const detail = 'empty selector is invalid for deployment';
    return [invalidField('spec.selector', selector, detail)];
  }
  const isMet = Object.entries(matchLabels).every(([name, value]) => labels[name] === value);
  return isMet ? [] : [mismatch];
}

export function templateErrors(
  template: JsonObject,
  restartPolicies: readonly string[],
): readonly FieldError[] {
  const spec = objectField(template, 'spec') ?? {};
  const policy = stringField(spec, 'restartPolicy') ?? '';
  const errors = podSpecErrors(spec, 'spec.template.spec');
  if (restartPolicies.includes(policy)) return errors;
  const field = 'spec.template.spec.restartPolicy';
  // What was not said was filled in.
  if (policy === 'Always')
    return [...errors, requiredField(field, 'valid values: "OnFailure", "Never"')];
  return [...errors, unsupportedValue(field, policy, restartPolicies)];
}

export function podSpecErrors(spec: JsonObject, path: string): readonly FieldError[] {
  const containers = listField(spec, 'containers').filter(isJsonObject);
  if (containers.length === 0) return [requiredField(`${path}.containers`)];
  return containers.flatMap((container, index) => {
    const at = `${path}.containers[${index}]`;
    const missing = ['name', 'image'].filter((name) => !stringField(container, name));
    return missing.map((name) => requiredField(`${at}.${name}`));
  });
}

export function selectorIsImmutable(object: JsonObject, before: JsonObject): readonly FieldError[] {
  const selector = objectField(objectField(object, 'spec') ?? {}, 'selector') ?? {};
  const old = objectField(objectField(before, 'spec') ?? {}, 'selector') ?? {};
  if (deepEqual(selector, old)) return [];
  return [invalidField('spec.selector', selector, 'field is immutable')];
}
