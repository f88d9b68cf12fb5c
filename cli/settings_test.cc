#include "cli/settings.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace tutti::cli {
namespace {

namespace fs = std::filesystem;

// A command with an option of its own and a verb, in an empty working directory.
class SettingsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "tutti-settings-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    previous_ = fs::current_path();
    fs::create_directories(folder_ / "home/tutti");
    fs::create_directories(folder_ / "work");
    fs::current_path(folder_ / "work");
    setenv("XDG_CONFIG_HOME", (folder_ / "home").c_str(), 1);
    unsetenv("TUTTI_COLOR");
    unsetenv("TUTTI_FORMAT");
    unsetenv("TUTTI_STRICT");
  }
  void TearDown() override {
    fs::current_path(previous_);
    fs::remove_all(folder_);
  }

  static void Write(const std::string& path, const std::string& text) {
    std::ofstream(path) << text;
  }

  // Parses a command line; empty if it was accepted, else the error.
  std::string Parse(std::vector<std::string> arguments) {
    app_ = std::make_unique<CLI::App>("test", "tutti");
    color_ = "auto";
    format_ = "text";
    strict_ = false;
    limit_ = 0;
    app_->add_option("--color", color_)->envname("TUTTI_COLOR")->capture_default_str();
    app_->fallthrough();
    settings_ = Settings::Install(*app_);
    CLI::App* report = app_->add_subcommand("report");
    report->add_option("--format", format_)->envname("TUTTI_FORMAT")->capture_default_str();
    report->add_flag("--strict", strict_)->envname("TUTTI_STRICT");
    report->add_option("--limit", limit_);
    std::reverse(arguments.begin(), arguments.end());
    try {
      app_->parse(arguments);
    } catch (const CLI::ParseError& error) {
      return error.what();
    }
    return "";
  }

  std::string OriginOf(const std::string& name) const {
    for (const Setting& setting : settings_->List()) {
      if (setting.name == name) return setting.value + " from " + setting.origin;
    }
    return "not listed";
  }

  fs::path folder_;
  fs::path previous_;
  std::unique_ptr<CLI::App> app_;
  std::shared_ptr<Settings> settings_;
  std::string color_;
  std::string format_;
  bool strict_ = false;
  int limit_ = 0;
};

TEST_F(SettingsTest, EachLayerHidesThoseBelow) {
  EXPECT_EQ(Parse({"report"}), "");
  EXPECT_EQ(format_, "text");
  EXPECT_EQ(OriginOf("report.format"), "text from default");

  const std::string user_file = folder_ / "home/tutti/config.toml";
  Write(user_file, "[report]\nformat = \"user\"\n");
  EXPECT_EQ(Parse({"report"}), "");
  EXPECT_EQ(format_, "user");
  EXPECT_EQ(OriginOf("report.format"), "user from " + user_file);

  Write("tutti.toml", "[report]\nformat = \"local\"\n");
  EXPECT_EQ(Parse({"report"}), "");
  EXPECT_EQ(format_, "local");
  EXPECT_EQ(OriginOf("report.format"), "local from tutti.toml");

  setenv("TUTTI_FORMAT", "variable", 1);
  EXPECT_EQ(Parse({"report"}), "");
  EXPECT_EQ(format_, "variable");
  EXPECT_EQ(OriginOf("report.format"), "variable from TUTTI_FORMAT");

  EXPECT_EQ(Parse({"report", "--format", "flag"}), "");
  EXPECT_EQ(format_, "flag");
  EXPECT_EQ(OriginOf("report.format"), "flag from flag");
  unsetenv("TUTTI_FORMAT");
}

TEST_F(SettingsTest, LayersAreMergedOptionByOption) {
  Write(folder_ / "home/tutti/config.toml", "color = \"never\"\n[report]\nlimit = 7\n");
  Write("tutti.toml", "[report]\nstrict = true\n");
  EXPECT_EQ(Parse({"report"}), "");
  EXPECT_EQ(color_, "never");
  EXPECT_EQ(limit_, 7);
  EXPECT_TRUE(strict_);
}

TEST_F(SettingsTest, AFlagCanBeSwitchedOffByALayerAbove) {
  Write("tutti.toml", "[report]\nstrict = true\n");
  setenv("TUTTI_STRICT", "false", 1);
  EXPECT_EQ(Parse({"report"}), "");
  EXPECT_FALSE(strict_);
  unsetenv("TUTTI_STRICT");
}

TEST_F(SettingsTest, AnUnknownNameIsAnErrorThatNamesTheFile) {
  Write("tutti.toml", "[report]\nfmt = \"json\"\n");
  EXPECT_EQ(Parse({"report"}), "tutti.toml: there is no option report.fmt");
  Write("tutti.toml", "[reports]\nformat = \"json\"\n");
  EXPECT_EQ(Parse({"report"}), "tutti.toml: there is no option reports.format");
}

TEST_F(SettingsTest, AGivenFileStandsForTheLocalOne) {
  Write("tutti.toml", "[report]\nformat = \"local\"\n");
  Write("other.toml", "[report]\nformat = \"other\"\n");
  EXPECT_EQ(Parse({"--config", "other.toml", "report"}), "");
  EXPECT_EQ(format_, "other");
  EXPECT_NE(Parse({"--config", "missing.toml", "report"}), "");
}

TEST_F(SettingsTest, AVerbThatIsNotRunIsOnlyListed) {
  Write("tutti.toml", "[report]\nformat = \"local\"\n");
  EXPECT_EQ(Parse({}), "");
  EXPECT_FALSE(app_->got_subcommand("report"));
  EXPECT_EQ(OriginOf("report.format"), "local from tutti.toml");
}

}  // namespace
}  // namespace tutti::cli
