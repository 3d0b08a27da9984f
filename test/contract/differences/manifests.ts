/** What the sandbox makes otherwise of manifests than a real server does, and why. */
export interface ManifestDifference {
  /** Matches the manifest's name: `v1 Pod corpus/web`. */
  readonly manifest: RegExp;
  /** Dotted paths of the answer; `*` is every item of a list. */
  readonly paths: readonly string[];
  readonly because: string;
}

export const manifestDifferences: readonly ManifestDifference[] = [
  {
    manifest:
      / (NetworkPolicy corpus\/np-(allow-all|rules)|MutatingWebhookConfiguration \/mwc-corpus)$/,
    paths: ['metadata.generation'],
    because: 'an empty list is the same as none to the sandbox: it is no new generation',
  },
  {
    manifest: / Pod corpus-limits\/limited$/,
    paths: ['metadata.annotations', 'spec.containers.0.resources'],
    because: 'LimitRanges are stored, not enforced',
  },
  {
    manifest: / CustomResourceDefinition /,
    paths: ['status', 'metadata.managedFields'],
    because: 'the sandbox serves a new kind at once, a real server some time later',
  },
  {
    manifest: / CustomResourceDefinition \/plains\./,
    paths: ['warning'],
    because: 'some rules in CEL are not evaluated, of which the sandbox warns',
  },
  {
    manifest: / Loose \/loose-null$/,
    paths: ['metadata.generation'],
    because: 'an applied null of a field of any type is no new generation to the sandbox',
  },
  {
    manifest: / (Validating|Mutating)WebhookConfiguration /,
    paths: ['warning'],
    because: 'the sandbox calls no webhook, of which it warns',
  },
  {
    manifest: / (Validating|Mutating)AdmissionPolicy /,
    paths: ['warning'],
    because:
      'the sandbox warns of what it does not enforce: params, apply configurations, audit annotations',
  },
  {
    manifest: / Secret corpus\/sec-tls$/,
    paths: ['warning'],
    because: 'the sandbox does not read certificates',
  },
];

/** Kinds of a real server that the sandbox does not serve. */
export const unservedKinds: readonly string[] = [
  'apiregistration.k8s.io/v1 APIService',
  'authentication.k8s.io/v1 TokenReview',
  'autoscaling/v1 HorizontalPodAutoscaler',
  'certificates.k8s.io/v1 CertificateSigningRequest',
  'flowcontrol.apiserver.k8s.io/v1 FlowSchema',
  'flowcontrol.apiserver.k8s.io/v1 PriorityLevelConfiguration',
  'networking.k8s.io/v1 IPAddress',
  'networking.k8s.io/v1 ServiceCIDR',
  'node.k8s.io/v1 RuntimeClass',
  'resource.k8s.io/v1 DeviceClass',
  'resource.k8s.io/v1 ResourceClaim',
  'resource.k8s.io/v1 ResourceClaimTemplate',
  'resource.k8s.io/v1 ResourceSlice',
  'storage.k8s.io/v1 CSIDriver',
  'storage.k8s.io/v1 CSINode',
  'storage.k8s.io/v1 CSIStorageCapacity',
  'storage.k8s.io/v1 VolumeAttachment',
  'storage.k8s.io/v1 VolumeAttributesClass',
  'v1 Binding',
  'v1 ComponentStatus',
];
