export { type LanguageServerOptions, type SessionEnd, serveLanguage } from './language-server.ts';
