import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import { listField, objectField } from '../json-fields.ts';
import type { BuiltinRules } from './builtin-kind.ts';
import { errorsOf } from './field-checks.ts';
import { withDefaults } from './pod-defaults.ts';
import { resourceNames } from './served-kind.ts';
import { webhookChecks } from './webhook-checks.ts';

function rulesOf(kind: string, plural: string, defaults: JsonObject): BuiltinRules {
  return {
    names: resourceNames({
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind,
      plural,
      namespaced: false,
    }),
    hasGeneration: true,
    allowsUnconditionalUpdate: false,
    fillDefaults: (configuration) => withWebhooks(configuration, defaults),
    validate: (configuration) => errorsOf(webhookChecks, configuration),
    warnings: (configuration) =>
      listField(configuration, 'webhooks').length === 0
        ? []
        : ['the sandbox stores this configuration and does not call its webhooks'],
  };
}

export const validatingWebhookRules = rulesOf(
  'ValidatingWebhookConfiguration',
  'validatingwebhookconfigurations',
  {},
);

export const mutatingWebhookRules = rulesOf(
  'MutatingWebhookConfiguration',
  'mutatingwebhookconfigurations',
  { reinvocationPolicy: 'Never' },
);

function withWebhooks(configuration: JsonObject, defaults: JsonObject): JsonObject {
  const webhooks = listField(configuration, 'webhooks');
  if (webhooks.length === 0) return configuration;
  return { ...configuration, webhooks: webhooks.map((each) => completed(each, defaults)) };
}

function completed(webhook: Json, defaults: JsonObject): Json {
  if (!isJsonObject(webhook)) return webhook;
  const config = objectField(webhook, 'clientConfig');
  const service = config === undefined ? undefined : objectField(config, 'service');
  const rules = listField(webhook, 'rules');
  return {
    ...withDefaults(webhook, {
      failurePolicy: 'Fail',
      matchPolicy: 'Equivalent',
      timeoutSeconds: 10,
      namespaceSelector: {},
      objectSelector: {},
      ...defaults,
    }),
    ...(service !== undefined && {
      clientConfig: { ...config, service: withDefaults(service, { port: 443 }) },
    }),
    ...(rules.length > 0 && {
      rules: rules.map((rule) => (isJsonObject(rule) ? withDefaults(rule, { scope: '*' }) : rule)),
    }),
  };
}
