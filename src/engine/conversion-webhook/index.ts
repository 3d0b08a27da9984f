export { caBundleOf } from './certificates/certificate-state.ts';
export { type CertificateTimes, defaultTimes } from './certificates/next-step.ts';
export {
  ConversionService,
  type ConversionServiceState,
  type ServeConversionsOptions,
} from './serve-conversions.ts';
export type { DrainTimes } from './server/webhook-server.ts';
export {
  conversionPath,
  type WebhookAddress,
  type WebhookClientConfig,
  webhookClientConfig,
  webhookNames,
} from './webhook-address.ts';
