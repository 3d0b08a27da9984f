/** How API servers word what they put into no field of a Status. For `errors.ts` only. */
import type { AccessRight } from './kube-error.ts';

/** With these words server-side apply refuses a value of a wrong type, an unknown field, a repeated list key. */
const typedPatchFailure = /^failed to create typed patch object \([^)]*\): ([\s\S]*)$/;

/** So the server words the two guards on an object's identity; neither has a cause or a reason of its own. */
const uidMismatch = /: uid mismatch: |: the UID in the precondition /;

/** What every authorizer's "no" is wrapped into. */
const missingRight =
  /\bcannot (\S+) resource "([^"]+)" in API group "([^"]*)" (?:in the namespace "([^"]*)"|at the cluster scope)/;

/** Webhooks and policies may refuse with any status: 400 and 422 mostly, but also 403, 404 or 409. */
const refusedByPolicy =
  /admission webhook "[^"]*" denied the request|Policy '[^']*' with binding '/;

/** Quota has neither a reason nor a cause of its own. */
const quotaRefusal = / is forbidden: (?:exceeded quota: |status unknown for quota: )/;

/** Why it could not be called is left out: addresses and deadlines change from try to try. */
const failedWebhook = /failed calling webhook "([^"]*)"/;

/** What admission plugins put before their reason. */
const pluginRefusal = / is forbidden: /;

/** Each kind words it otherwise: "field is immutable", "may not change once set", "updates to statefulset spec for fields other than". */
const immutable =
  /\bimmutable\b|\bmay not (?:be )?chang|\bcannot (?:be )?change|\bupdates to .* are forbidden|\bupdates? may not\b/i;

/** What changes from one refusal to the next without meaning anything: UUIDs, times, pointers, long digests. */
const passing =
  /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[^\s",;)]*|\b0x[0-9a-f]+\b|\b(?=[0-9a-f]*\d)[0-9a-f]{16,}\b/gi;

/** What server-side apply found wrong with the values that it was sent. */
export function typedPatchText(message: string): string | undefined {
  return typedPatchFailure.exec(message)?.[1];
}

/** The manager that a field manager conflict is about. */
export function managerIn(message: string): string | undefined {
  return /^conflict with "((?:[^"\\]|\\.)*)"/.exec(message)?.[1];
}

export function isUidMismatch(message: string): boolean {
  return uidMismatch.test(message);
}

/** Older servers take no version in what they are to create. */
export function isVersionRefusal(message: string): boolean {
  return /\bresourceVersion\b/.test(message);
}

export function isQuotaRefusal(message: string): boolean {
  return quotaRefusal.test(message);
}

export function isPolicyRefusal(message: string): boolean {
  return refusedByPolicy.test(message);
}

/** Did an admission plugin refuse, rather than an authorizer? */
export function isPluginRefusal(message: string): boolean {
  return pluginRefusal.test(message) && missingRightIn(message) === undefined;
}

/**
 * Did a plugin that looks at owners (OwnerReferencesPermissionEnforcement) refuse because it has not heard of the owner's kind yet? It
 * looks for new kinds twice a minute only.
 */
export function isOfUnheardOwner(message: string): boolean {
  return message.includes('cannot find RESTMapping for ');
}

/** The webhook that the server could not call. */
export function failedWebhookIn(message: string): string | undefined {
  return failedWebhook.exec(message)?.[1];
}

export function isAboutImmutable(message: string): boolean {
  return immutable.test(message);
}

/** The right that an authorizer missed; undefined: it was not about a resource, or no authorizer. */
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

/** The words of a refusal as they are at each of its repetitions: a condition carries them. */
export function stableWords(message: string): string {
  return message.replace(passing, '…');
}

/** Without what is used of a quota at the moment, which others change. */
export function stableQuotaWords(message: string): string {
  return message.replace(/, used: [^:]*(?=, limited: )/, '');
}
