import {
  type Converter,
  createConverter,
  readRules,
  versionsOfCrd,
  type YamlText,
} from '#conversion';
import type { JsonObject } from '#util/json.ts';
import { conversionsAnnotation } from '#util/stored-names.ts';
import { objectField, stringField, withField } from '../json-fields.ts';
import { ConversionError, type VersionConverter } from '../kinds/version-converter.ts';

/** The conversion webhooks of a sandbox, which runs their conversions itself. */
export interface WebhookRules {
  /** Otherwise every call fails, as of a process that does not listen. */
  areReachable(): boolean;
  readonly yaml: YamlText;
}

/** Whether a CRD has the rules of its webhook, by which the sandbox converts. */
export function hasOwnRules(crd: JsonObject): boolean {
  return digestOfWebhook(crd) !== undefined && annotationOf(crd) !== undefined;
}

/**
 * Converts as the webhook of this CRD does, in its words and those of the server. Undefined: versions differ by name only, or the webhook is
 * another one, which the sandbox does not call.
 * @param current the CRD as it is now: a webhook reads the rules again when their annotation changes
 */
export function readConverter(
  crd: JsonObject,
  webhooks: WebhookRules,
  current: () => JsonObject | undefined,
): VersionConverter | undefined {
  const digest = digestOfWebhook(crd);
  if (digest === undefined || annotationOf(crd) === undefined) return undefined;
  const refusal = refusedConnection(crd);
  const versions = versionsOfCrd(crd);
  const name = stringField(objectField(crd, 'metadata') ?? {}, 'name');
  let known: KnownRules | undefined;
  function converterFor(object: JsonObject): Converter {
    if (!webhooks.areReachable()) throw new ConversionError(object, refusal);
    const text = annotationOf(current() ?? crd) ?? '';
    if (known?.text !== text) {
      const stored = readRules(text);
      const rules = stored?.byDigest.get(digest ?? '');
      const { yaml } = webhooks;
      const converter = rules && createConverter({ rules, ...versions, yaml });
      known = { text, current: stored?.current, converter };
    }
    if (known.converter !== undefined) return known.converter;
    const about = `CustomResourceDefinition "${name}"`;
    throw new ConversionError(
      object,
      known.current === undefined
        ? `${about} has no readable conversion rules`
        : `${about} has no conversion rules with the digest "${digest}"; its current ones have "${known.current}"`,
    );
  }
  return {
    assertReachable(object) {
      converterFor(object);
    },
    convert(object, apiVersion) {
      if (object.apiVersion === apiVersion || isEmpty(object)) return { ...object, apiVersion };
      const version = apiVersion.slice(apiVersion.indexOf('/') + 1);
      const converted = converterFor(object).convert(object, version);
      if (converted.object === undefined)
        throw new ConversionError(
          object,
          `${object.kind} "${qualifiedName(object)}": ${converted.problem}`,
        );
      return withMetadataOf(object, converted.object);
    },
  };
}

/** What a webhook has read of the annotation. */
interface KnownRules {
  readonly text: string;
  readonly current: string | undefined;
  readonly converter: Converter | undefined;
}

function qualifiedName(object: JsonObject): string {
  const { namespace, name } = objectField(object, 'metadata') ?? {};
  return namespace === undefined ? String(name) : `${namespace}/${name}`;
}

/** The server does not have an object without any field converted. */
function isEmpty(object: JsonObject): boolean {
  return Object.keys(object).length === 2 && 'kind' in object && 'apiVersion' in object;
}

/** Of the metadata, a webhook changes labels and annotations only. */
function withMetadataOf(object: JsonObject, converted: JsonObject): JsonObject {
  const { labels, annotations } = objectField(converted, 'metadata') ?? {};
  const metadata = objectField(object, 'metadata') ?? {};
  const labelled = withField(metadata, 'labels', labels ?? undefined);
  const whole = withField(labelled, 'annotations', annotations ?? undefined);
  return withField(converted, 'metadata', whole);
}

function annotationOf(crd: JsonObject): string | undefined {
  const annotations = objectField(objectField(crd, 'metadata') ?? {}, 'annotations') ?? {};
  return stringField(annotations, conversionsAnnotation);
}

function clientConfigOf(crd: JsonObject): JsonObject | undefined {
  const conversion = objectField(objectField(crd, 'spec') ?? {}, 'conversion') ?? {};
  if (conversion.strategy !== 'Webhook') return undefined;
  return objectField(objectField(conversion, 'webhook') ?? {}, 'clientConfig');
}

/** The digest of the rules in the path of a webhook that converts by rules. */
function digestOfWebhook(crd: JsonObject): string | undefined {
  const config = clientConfigOf(crd) ?? {};
  const path =
    stringField(config, 'url') ?? stringField(objectField(config, 'service') ?? {}, 'path');
  const name = stringField(objectField(crd, 'metadata') ?? {}, 'name');
  const [, about, digest] = /\/convert\/([^/]+)\/([^/]+)$/.exec(path ?? '') ?? [];
  return about === name ? digest : undefined;
}

function refusedConnection(crd: JsonObject): string {
  const config = clientConfigOf(crd) ?? {};
  const { name, namespace, port = 443, path = '' } = objectField(config, 'service') ?? {};
  const url = new URL(
    stringField(config, 'url') ?? `https://${name}.${namespace}.svc:${port}${path}`,
  );
  const address = `${url.hostname}:${url.port === '' ? 443 : url.port}`;
  return `Post "${url.href}?timeout=30s": dial tcp ${address}: connect: connection refused`;
}
