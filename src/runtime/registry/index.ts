export type { KnownDefinition, KnownDefinitions } from './known-definition.ts';
export { leadingWhenSure } from './leading-when-sure.ts';
export {
  Registry,
  type RegistryOptions,
  type SourceReading,
} from './registry.ts';
export type { TextFindings } from './told-findings.ts';
