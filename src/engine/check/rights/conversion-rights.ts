import type { OperatorPlan } from '#compile';
import { webhookSecretName } from '#util/stored-names.ts';
import type { AccessRule } from './access-rule.ts';
import { watchVerbs } from './required-right.ts';

/** On the certificates of the conversion webhook, which the runtime writes into the CRD; it makes them where it serves the webhook itself. */
export function conversionRule(
  { definition: { name, conversions } }: OperatorPlan,
  namespace: string | undefined,
): readonly AccessRule[] {
  if (conversions === undefined) return [];
  return [
    {
      apiGroup: '',
      resource: 'secrets',
      names: [webhookSecretName],
      verbs: [...watchVerbs, 'create', 'patch'],
      ...(namespace !== undefined && { namespaces: [namespace] }),
      purpose: 'crd',
      reason: `${name}: the certificates of the conversion webhook`,
    },
  ];
}
