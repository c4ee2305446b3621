// Notices between the processes of an installation, through PostgreSQL.
import { Global, Module } from '@nestjs/common';
import { PgChannel } from './pg-channel.js';

/** Notices between processes: every one of them needs it, the operator command too, which is to start without Bull. */
@Global()
@Module({ providers: [PgChannel], exports: [PgChannel] })
export class ChannelModule {}
