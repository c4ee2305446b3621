// The members and service accounts of a workspace over HTTP. Apart from the services, which the operator command has too.
import { Module } from '@nestjs/common';
import { MembersController } from './members.controller.js';
import { MembersService } from './members.service.js';
import { ServiceAccountsController } from './service-accounts.controller.js';

@Module({ controllers: [MembersController, ServiceAccountsController], providers: [MembersService] })
export class MembersModule {}
