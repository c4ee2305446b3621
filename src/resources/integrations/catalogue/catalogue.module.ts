// The catalogue of integrations: the providers whose events start automations, and the thread that reads what they deliver.
import { Module } from '@nestjs/common';
import { HookThread } from '../hook-thread.js';
import { Catalogue } from './catalogue.js';
import { GithubProvider } from './github.js';
import { GitlabProvider } from './gitlab.js';
import { JiraProvider } from './jira.js';
import { LinearProvider } from './linear.js';
import { PagerdutyProvider } from './pagerduty.js';
import { SentryProvider } from './sentry.js';
import { SlackProvider } from './slack.js';
import { WebhookProvider } from './webhook.js';

const PROVIDERS = [
  GithubProvider,
  GitlabProvider,
  JiraProvider,
  LinearProvider,
  PagerdutyProvider,
  SentryProvider,
  SlackProvider,
  WebhookProvider,
];

@Module({ providers: [Catalogue, HookThread, ...PROVIDERS], exports: [Catalogue, HookThread] })
export class CatalogueModule {}
