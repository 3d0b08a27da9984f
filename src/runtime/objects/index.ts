export { ConfigMapEvents } from './config-map-events.ts';
export { DefinitionObjectInformer } from './definition-object-informer.ts';
export {
  definitionCrdName,
  definitionGvk,
  definitionsLabel,
  isWriteOf,
  sourceLabel,
  sourceRefAnnotation,
} from './names.ts';
export { WriteRateLimiter } from './write-rate-limiter.ts';
