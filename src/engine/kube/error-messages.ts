/** Patterns of API server messages that have no field in a Status. Only for `errors.ts`. */
import type { AccessRight } from './kube-error.ts';

/** Server-side apply rejects a wrong type, an unknown field or a duplicate list key. */
const typedPatchFailure = /^failed to create typed patch object \([^)]*\): ([\s\S]*)$/;

/** The two UID preconditions. Neither has its own cause or reason. */
const uidMismatch = /: uid mismatch: |: the UID in the precondition /;

/** Denial by an authorizer. */
const missingRight =
  /\bcannot (\S{1,63}) resource "([^"]{1,253})" in API group "([^"]{0,253})" (?:in the namespace "([^"]{0,253})"|at the cluster scope)/;

/** Webhooks and policies reject with any status: mostly 400 and 422, but also 403, 404 or 409. */
const policyRejection =
  /admission webhook "[^"]*" denied the request|Policy '[^']*' with binding '/;

/** A quota rejection has neither a reason nor a cause. */
const quotaRejection = / is forbidden: (?:exceeded quota: |status unknown for quota: )/;

/** Without the cause: addresses and deadlines differ between attempts. */
const failedWebhook = /failed calling webhook "([^"]*)"/;

/** The version from which the server could not convert a custom resource, and why. */
const failedConversion =
  /conversion webhook for (\S{1,320}, Kind=\S{1,63}) (?:failed(?:: |, | )|(?=returned ))([\s\S]*)$/;

/** The local address of a connection: its port differs between attempts. */
const localAddress = /\S+:\d+->/g;

/** An apply to a custom resource whose `managedFields` name a version that its CRD does not have. */
const unknownFieldVersion =
  /^request to convert CR to an invalid group\/version: (\S+)$|, Kind=\S+ is unstructured and is not suitable for converting to "([^"]+)"$/;

/** Prefix of rejections by admission plugins. */
const pluginRejection = / is forbidden: /;

/**
 * Kinds use different messages: "field is immutable", "may not change once set", "updates to statefulset spec for
 * fields other than".
 */
const immutable =
  /\bimmutable\b|\bmay not (?:be )?chang|\bcannot (?:be )?change|\bupdates to .* are forbidden|\bupdates? may not\b/i;

/** Volatile parts of messages: UUIDs, times, pointers, long digests. */
const volatile =
  /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[^\s",;)]*|\b0x[0-9a-f]+\b|\b(?=[0-9a-f]*\d)[0-9a-f]{16,}\b/gi;

/** The details of a server-side apply error about wrong values. */
export function typedPatchDetails(message: string): string | undefined {
  return typedPatchFailure.exec(message)?.[1];
}

/** The manager named in a field manager conflict. */
export function managerIn(message: string): string | undefined {
  return /^conflict with "((?:[^"\\]|\\.)*)"/.exec(message)?.[1];
}

export function isUidMismatch(message: string): boolean {
  return uidMismatch.test(message);
}

/** Older servers reject a resourceVersion in a create. */
export function isVersionRejection(message: string): boolean {
  return /\bresourceVersion\b/.test(message);
}

export function isQuotaRejection(message: string): boolean {
  return quotaRejection.test(message);
}

export function isPolicyRejection(message: string): boolean {
  return policyRejection.test(message);
}

/** Whether an admission plugin rejected the request, not an authorizer. */
export function isPluginRejection(message: string): boolean {
  return pluginRejection.test(message) && missingRightIn(message) === undefined;
}

/**
 * Whether OwnerReferencesPermissionEnforcement rejected the request because it has not discovered the owner's kind
 * yet. It refreshes its kinds only every 30 s.
 */
export function isOwnerKindUnknown(message: string): boolean {
  return message.includes('cannot find RESTMapping for ');
}

/**
 * Whether a plugin rejected the write because the server has just started: it has not read what the plugin needs, such as the namespaces.
 * It says 403, as for a missing right.
 */
export function isNotReady(message: string): boolean {
  return message.endsWith('not yet ready to handle request');
}

/** Name of the webhook that the server could not call. */
export function failedWebhookIn(message: string): string | undefined {
  return failedWebhook.exec(message)?.[1];
}

/**
 * The conversion webhook that failed, in stable words. Undefined: the message is about something else, such as an admission webhook, which may
 * quote the failure of another conversion.
 */
export function failedConversionIn(message: string): string | undefined {
  const found = failedConversion.exec(message);
  const [, source, why] = found ?? [];
  if (found === null || source === undefined || why === undefined) return undefined;
  if (failedWebhook.test(message.slice(0, found.index))) return undefined;
  const [apiVersion, kind = ''] = source.split(', Kind=');
  const reason = stableMessage(why).replace(localAddress, '');
  return `The conversion webhook of ${kind} failed for ${apiVersion}: ${reason}`;
}

/** The API version of fields that the server cannot convert to, so that every apply to the object fails. */
export function unknownFieldVersionIn(message: string): string | undefined {
  const [, version, otherGroup] = unknownFieldVersion.exec(message) ?? [];
  return version ?? otherGroup;
}

export function isAboutImmutableField(message: string): boolean {
  return immutable.test(message);
}

/**
 * What the server says about an immutable field, without the value (a whole Pod template) and without the difference
 * of old and new that it appends for claims, volumes and Pods.
 */
export function immutableDetail(message: string): string {
  if (message.startsWith('Invalid value: ')) return message.slice(message.lastIndexOf(': ') + 2);
  const [line = message] = message.split('\n', 1);
  return line.replace(/^(?:Forbidden|Unsupported value): /, '').trim();
}

/**
 * Why an admission plugin or a registry of the API server rejected a request, without the name of the object: texts of
 * one cause are equal for many objects. Undefined: a webhook, a policy or an authorizer rejected it.
 */
export function denialIn(message: string): string | undefined {
  if (isPolicyRejection(message) || !isPluginRejection(message)) return undefined;
  const at = message.indexOf(' is forbidden: ');
  return stableMessage(message.slice(at + ' is forbidden: '.length));
}

/** The missing right. Undefined: not about a resource, or not from an authorizer. */
export function missingRightIn(message: string, name?: string): AccessRight | undefined {
  const [, verb, path, group, namespace] = missingRight.exec(message) ?? [];
  if (verb === undefined || path === undefined || group === undefined) return undefined;
  const [resource = path, subresource] = path.split('/', 2);
  return {
    verb,
    group,
    resource,
    ...(subresource === undefined ? {} : { subresource }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(name === undefined ? {} : { name }),
  };
}

/** The message without its volatile parts, stable enough for a condition. */
export function stableMessage(message: string): string {
  return message.replace(volatile, '…');
}

/** The message without the current quota usage, which others change. */
export function stableQuotaMessage(message: string): string {
  return message.replace(/, used: [^:]*(?=, limited: )/, '');
}
