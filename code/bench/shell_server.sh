#!/bin/sh
# The server that starts at once: a shell needs a millisecond, Python twenty. With many of them the
# measurement is about the client. Any program that reads and writes lines can be a server.
#
# shell_server.sh [--era 2026-07-28] [--name NAME] [--ready]: one tool, `echo`, whose text is always "here".
# It knows its clients: compact or spaced JSON of one line, an id that is a number or a plain word. No model for
# a server of yours: it finds methods by looking for their names in the line.

modern='' name=shell
while [ $# -gt 0 ]; do
    case $1 in
        --ready) printf '!'; shift; continue ;;
        --era) if [ "$2" = 2026-07-28 ]; then modern=yes; fi ;;
        --name) name=$2 ;;
    esac
    shift 2
done

info='{"name":"'$name'","version":"1"}'
schema='{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}'
tools='"tools":[{"name":"echo","description":"The echo tool","inputSchema":'$schema'}]'
content='"content":[{"type":"text","text":"here"}]'
cache='' kind=''
if [ "$modern" ]; then
    cache=',"ttlMs":300000,"cacheScope":"public"'
    kind='"resultType":"complete",'
fi

while IFS= read -r line; do
    id=${line#*\"id\":}
    [ "$id" != "$line" ] || continue # a notification
    id=${id%%[,\}]*}
    case $modern$line in
        *'"tools/list"'*) body='"result":{'$kind$tools$cache'}' ;;
        *'"tools/call"'*) body='"result":{'$kind$content'}' ;;
        yes*'"server/discover"'*)
            versions='"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}'
            body='"result":{'$kind$versions$cache',"_meta":{"io.modelcontextprotocol/serverInfo":'$info'}}' ;;
        '{'*'"initialize"'*)
            fixed='"protocolVersion":"2025-11-25","capabilities":{"tools":{}}'
            body='"result":{'$fixed',"serverInfo":'$info'}' ;;
        *) body='"error":{"code":-32601,"message":"Method not found"}' ;;
    esac
    printf '%s\n' '{"jsonrpc":"2.0","id":'"$id,$body}"
done
