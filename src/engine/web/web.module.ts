// Pages of the web: how they are asked for, and what clients are told of it. The agent's tool reads them.
import { Module } from '@nestjs/common';
import { WebRequests } from './web-requests.js';
import { WebController } from './web.controller.js';

@Module({ controllers: [WebController], providers: [WebRequests], exports: [WebRequests] })
export class WebModule {}
