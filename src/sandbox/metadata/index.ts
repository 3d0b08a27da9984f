export { isIpAddress } from './ip-address.ts';
export {
  configKey,
  dns1035Label,
  dnsLabel,
  dnsSubdomain,
  labelValueRule,
  type NameRule,
  pathSegment,
  portName,
  portNumber,
  qualifiedName,
  variableName,
  wildcardSubdomain,
} from './name-rules.ts';
export {
  annotationErrors,
  finalizerWarnings,
  labelErrors,
  type MetadataRules,
  strictFinalizerErrors,
  textsOf,
  validateMetadata,
  validateMetadataUpdate,
} from './validate-metadata.ts';
