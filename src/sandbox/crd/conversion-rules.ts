import type { JsonObject } from '../../util/json.ts';
import { fieldOf, listField, objectField, stringField } from '../json-fields.ts';
import { dns1035Label } from '../metadata/index.ts';
import {
  type FieldError,
  forbiddenField,
  invalidField,
  requiredField,
  unsupportedValue,
} from '../status/index.ts';

const path = 'spec.conversion';
const configField = `${path}.webhookClientConfig`;
const reviewsField = `${path}.conversionReviewVersions`;

/** How versions are converted. The sandbox does it by name alone, and takes no CRD that asks for a webhook. */
export function conversionErrors(spec: JsonObject): readonly FieldError[] {
  const conversion = objectField(spec, 'conversion') ?? {};
  const strategy = stringField(conversion, 'strategy') ?? '';
  const webhook = objectField(conversion, 'webhook');
  const config = webhook === undefined ? undefined : objectField(webhook, 'clientConfig');
  const reviews = listField(webhook ?? {}, 'conversionReviewVersions').map(String);
  if (strategy === 'Webhook') {
    const errors = [...configErrors(config), ...reviewErrors(reviews)];
    if (errors.length > 0) return errors;
    const detail = 'the sandbox does not model conversion webhooks';
    return [forbiddenField(`${path}.strategy`, detail)];
  }
  const strategies = ['None', 'Webhook'];
  const field = `${path}.strategy`;
  const errors: FieldError[] = [];
  if (strategy === '') errors.push(requiredField(field));
  else if (strategy !== 'None') errors.push(unsupportedValue(field, strategy, strategies));
  const detail = 'should not be set when strategy is not set to Webhook';
  if (config !== undefined) errors.push(forbiddenField(configField, detail));
  if (reviews.length > 0) errors.push(forbiddenField(reviewsField, detail));
  return errors;
}

function configErrors(config: JsonObject | undefined): readonly FieldError[] {
  if (config === undefined)
    return [requiredField(configField, 'required when strategy is set to Webhook')];
  const hasUrl = fieldOf(config, 'url') !== undefined;
  const hasService = fieldOf(config, 'service') !== undefined;
  if (hasUrl !== hasService) return [];
  return [requiredField(configField, 'exactly one of url or service is required')];
}

const understood = ['v1', 'v1beta1'];

function reviewErrors(versions: readonly string[]): readonly FieldError[] {
  if (versions.length === 0) return [requiredField(reviewsField)];
  const errors = versions.flatMap((version, index) => {
    const field = `${reviewsField}[${index}]`;
    if (versions.indexOf(version) < index)
      return [invalidField(field, version, 'duplicate version')];
    return dns1035Label(version).map((problem) => invalidField(field, version, problem));
  });
  if (versions.some((version) => understood.includes(version))) return errors;
  const detail = `must include at least one of ${understood.join(', ')}`;
  return [...errors, invalidField(reviewsField, versions, detail)];
}
