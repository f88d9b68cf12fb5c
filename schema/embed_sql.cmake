# cmake -D NAME=RawSql -D INPUT=raw.sql -D OUTPUT=raw_sql.cc -P embed_sql.cmake
# Writes a source file that defines tutti::schema::NAME() as the text of INPUT.
file(READ ${INPUT} text)
if(text MATCHES "\\)sql\"")
  message(FATAL_ERROR "${INPUT} holds )sql\", which would end the string in ${OUTPUT}")
endif()
file(WRITE ${OUTPUT} "#include \"schema/sql.h\"

namespace tutti::schema {

std::string_view ${NAME}() {
  static constexpr std::string_view kText = R\"sql(${text})sql\";
  return kText;
}

}  // namespace tutti::schema
")
