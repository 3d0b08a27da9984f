export {
  configKey,
  dns1035Label,
  dnsLabel,
  dnsSubdomain,
  labelValueRule,
  type NameRule,
  pathSegment,
  qualifiedName,
} from './name-rules.ts';
export {
  finalizerWarnings,
  type MetadataRules,
  strictFinalizerErrors,
  textsOf,
  validateMetadata,
  validateMetadataUpdate,
} from './validate-metadata.ts';
